"""What the failed cases have in common, and no passed one: their layout, their dtype, a size."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

from grader.challenge import Case
from grader.challenge.harness.compare import CLOSE, Expected, Finding, relative
from grader.challenge.harness.result_names import called
from grader.challenge.harness.trial import Trial
from grader.diagnosis.evidence import Diagnosis, Evidence

KINDS = ("overrun", "unwritten", "values", "nan", "inf", "special")
UNLIKELY = 0.05  # of what is told, so much may be by luck
FEW = 2  # failed cases, passed ones, or names: fewer tell nothing, more are no sentence
ENOUGH = 3  # sizes that are right
STORED = (
    "Only contiguous inputs come out right: the output is written with the strides of an input. It is new, "
    "and has its own.",
    "the strides of the store",
)
EXPANDED = (
    "autograd may hand down an expanded (stride 0) or a transposed one. Its strides go to the kernel, too."
)
STRIDED: dict[str, Callable[[Trial], bool]] = {
    "upstream gradients": lambda trial: bool(_strided(trial.upstream)),
    "inputs": lambda trial: bool(_strided(trial.arguments)),
    "inputs and upstream gradients": lambda trial: bool(_strided([*trial.upstream, *trial.arguments])),
}


def layout(trial: Trial, evidence: Evidence) -> tuple[str, str]:
    """What is not contiguous in all that failed, and what is said of it; both empty where nothing is."""
    what = next((what for what, has in STRIDED.items() if _marks(has, evidence)), "")
    if not what or trial.findings[0].kind not in KINDS or _meet(trial):
        return "", ""
    if any(map(STRIDED[what], evidence.passed)):
        return what, f"Of the {what} that are not contiguous, some come out wrong"
    return what, f"Only contiguous {what} come out right"


def only_contiguous(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for files that are wrong where inputs or gradients are not contiguous."""
    what, said = layout(trial, evidence)
    stores = finding.kind == "overrun" and finding.facts["kind"] == "store"
    if stores and said == STORED[0].partition(":")[0]:
        return STORED
    if not said or finding.kind in ("overrun", "unwritten"):
        return None  # more is known of those
    if what == "upstream gradients":
        return f"{said}: {EXPANDED}", "the strides of the upstream gradient"
    names = _always_strided(evidence) if what == "inputs" else []
    listed = " and ".join(names)
    every = f" In every case that fails {listed} {'is' if len(names) == 1 else 'are'} not." if names else ""
    return (
        f"{said}: a stride is ignored, taken for granted or another tensor's, or a mask compares offsets "
        f"with a stride in them.{every}",
        f"the strides of {listed}" if listed else "the strides",
    )


def _always_strided(evidence: Evidence) -> list[str]:
    """The inputs that are not contiguous in any failed case; none where they are many."""
    first, *others = ([trial.names[n] for n in _strided(trial.arguments)] for trial in evidence.failed)
    names = [name for name in first if all(name in other for other in others)]
    return names if len(names) <= FEW else []


def _strided(values: Sequence[object]) -> list[int]:
    """The positions of tensors that are not contiguous."""
    tensors = [(n, value) for n, value in enumerate(values) if isinstance(value, torch.Tensor)]
    return [n for n, value in tensors if not value.is_contiguous()]


def _marks(has: Callable[[Trial], bool], evidence: Evidence) -> bool:
    """Whether all that failed has it, and that is hardly luck. A stride that is wrong is no rounding."""
    if all(t.findings[0].kind == "values" and relative(t.findings[0]) <= CLOSE for t in evidence.failed):
        return False
    wrong, every = len(evidence.failed), len(evidence.trials)
    return all(map(has, evidence.failed)) and luck(wrong, sum(map(has, evidence.trials)), every) <= UNLIKELY


def _meet(trial: Trial) -> bool:
    """Whether programs store to one element, which no stride of an input does."""
    return any(found.kind == "race" and found.facts["kind"] == "store" for found in trial.findings)


def right_up_to(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for files that are right up to some size, and wrong from another on."""
    found = [other.findings[0] for other in evidence.failed]
    if any(one.kind != "values" or relative(one) <= CLOSE for one in found):
        return None  # rounding grows with the length as well
    fits, chance = [], 0.0
    alike = [other.case for other in evidence.passed if other.case.dtype == trial.case.dtype]
    wrong = [other.case for other in evidence.failed if other.case.dtype == trial.case.dtype]
    for label in trial.case.sizes:
        right, bad = _sizes(label, alike), _sizes(label, wrong)
        chance += luck(len(bad), len(bad), len(right | bad)) if len(right | bad) > 1 else 0.0
        if len(right) >= ENOUGH and len(bad) >= FEW and max(right) < min(bad):
            fits.append((label, max(right), min(bad)))
    if len(fits) != 1 or chance > UNLIKELY:
        return None
    label, last, first = fits[0]
    return (
        f"Right up to {label} = {last}, wrong from {label} = {first} on: what differs between the first "
        f"block of {label} and the next?",
        "the loop, and what each turn adds to",
    )


def _sizes(label: str, cases: list[Case]) -> set[int]:
    found = {case.sizes.get(label) for case in cases}
    return {size for size in found if isinstance(size, int) and not isinstance(size, bool) and size > 0}


def luck(wrong: int, alike: int, every: int) -> float:
    """How likely it is that all wrong ones are among those alike, if that has nothing to do with it.

    Args:
        wrong: how many of all are wrong.
        alike: how many of all have something in common.
        every: of how many.
    """
    return math.comb(alike, wrong) / math.comb(every, wrong)


def always_right(trial: Trial, evidence: Evidence) -> str:
    """Which of several outputs is wrong in no case, in words; empty where none is."""
    wanted = [want for want in trial.expected if isinstance(want, Expected)]
    asked_for = sum(not want.label for want in wanted)
    alike = [other for other in evidence.failed if other.challenge is trial.challenge]
    wrong = {found.facts.get("result") for other in alike for found in other.findings}
    names = [
        want.label or called(number, asked_for, trial.results) or "the result"
        for number, want in enumerate(wanted)
        if number not in wrong
    ]
    if not names or None in wrong:
        return ""
    said = " and ".join(names)
    return f" {said if names[0].isidentifier() else said[0].upper() + said[1:]}: right in every case."
