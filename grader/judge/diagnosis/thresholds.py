"""Which sizes come out right: all up to some length, or all that are whole blocks."""

from __future__ import annotations

import ast
import math

import torch

from grader.judge.case.compare import CLOSE, Expected, Finding, relative
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.luck import UNLIKELY, luck
from grader.judge.diagnosis.site import has_loop

FEW = 3  # different sizes that must come out right, and for whole blocks wrong as well
USUAL = (128, 64, 32, 16)
BLOCKS = (1024, 512, 256, *USUAL)

Sizes = dict[torch.dtype, set[int]]  # block sizes often go by the dtype, so sizes are compared within one


def right_up_to(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for kernels that get the first block right, or sum over it alone."""
    findings = _first(evidence)
    if any(found.kind != "values" or relative(found) <= CLOSE for found in findings):
        return None  # rounding grows with the length as well
    fits, chance = [], 0.0
    for label in trial.case.sizes:
        right, wrong = _sizes(evidence.passed, label), _sizes(evidence.failed, label)
        chance += _chance(right, wrong)
        apart = all(max(right.get(dtype, {0})) < min(sizes) for dtype, sizes in wrong.items())
        if wrong and apart and _count(right) >= FEW and _count(wrong) >= 2 and right.get(trial.case.dtype):
            fits.append((label, max(right[trial.case.dtype]), min(wrong[trial.case.dtype])))
    if len(fits) != 1 or chance > UNLIKELY:
        return None
    label, last, first = fits[0]
    return (
        f"Right up to {label} = {last}, wrong from {label} = {first} on: what differs between the first "
        f"block of {label} and the next?",
        f"the loop over {label}, and what it carries from block to block"
        if has_loop(ast.parse(evidence.source))
        else f"what becomes of each block of {label}",
    )


def partial_block(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for kernels that get whole blocks right."""
    if any(found.kind != "values" for found in _first(evidence)):
        return None
    fits, chance = [], 0.0
    for label in trial.case.sizes:
        right, wrong = _sizes(evidence.passed, label), _sizes(evidence.failed, label)
        chance += _chance(right, wrong) * _ways(right, wrong)
        blocks = {dtype: _block(right.get(dtype, set()), sizes) for dtype, sizes in wrong.items()}
        known = right.get(trial.case.dtype)
        if known and all(blocks.values()) and _count(right) >= FEW and _count(wrong) >= FEW:
            fits.append((label, blocks[trial.case.dtype]))
    if len(fits) != 1 or chance > UNLIKELY:
        return None
    label, block = fits[0]
    return (
        f"Only multiples of {block} come out right as {label}: the last, partial block of {label} is left "
        "out, or its mask is wrong.",
        f"the end of the loop over {label}, and its mask"
        if has_loop(ast.parse(evidence.source))
        else f"the last block of {label}, and its mask",
    )


def _first(evidence: Evidence) -> list[Finding]:
    return [trial.findings[0] for trial in evidence.failed]


def _sizes(trials: list[Trial], label: str) -> Sizes:
    """The values of one size over the trials that have something to compute."""
    found: Sizes = {}
    for trial in trials:
        size = trial.case.sizes.get(label, 0)
        empty = any(isinstance(want, Expected) and not want.exact.numel() for want in trial.expected)
        if isinstance(size, int) and not isinstance(size, bool) and size > 0 and not empty:
            found.setdefault(trial.case.dtype, set()).add(size)
    return found


def _chance(right: Sizes, wrong: Sizes) -> float:
    """How likely it is by luck that just these of all sizes are wrong, in each dtype.

    Where a size is the same all over it parts nothing, and one that is right and wrong is parted by none.
    """
    counts = [(len(sizes), len(sizes | right.get(dtype, set()))) for dtype, sizes in wrong.items()]
    every = set().union(*right.values(), *wrong.values())
    return math.prod(luck(some, some, among) for some, among in counts) if len(every) > 1 else 0.0


def _ways(right: Sizes, wrong: Sizes) -> int:
    """How many blocks leave as many sizes with a partial one as are wrong, each other ones."""
    every = set().union(*right.values(), *wrong.values())
    partial = {frozenset(size for size in every if size % block) for block in BLOCKS}
    return sum(len(sizes) == _count(wrong) for sizes in partial)


def _count(sizes: Sizes) -> int:
    return len(set().union(*sizes.values()))


def _block(right: set[int], wrong: set[int]) -> int:
    """The block of which all right sizes are multiples and no wrong one is; 0 when there is none."""
    blocks = BLOCKS if right else USUAL
    fits = (b for b in blocks if all(size % b == 0 for size in right) and all(size % b for size in wrong))
    return next(fits, 0)
