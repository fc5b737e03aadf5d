"""Inputs that were read as if their rows, heads or matrices lay another distance apart than they do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch

from grader.case import readable
from grader.judge.case.compare import Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Evidence, Speech
from grader.judge.diagnosis.explaining import explained
from grader.judge.diagnosis.suspects import KINDS, placed

LARGEST = 1 << 16  # elements of the arguments: the reference is tried many times
NUMBERS = 3  # that a result has at least, to tell one input from another
TRIED = 2  # of the failed trials


@dataclass(frozen=True)
class Step:
    """Inputs by their positions, and the step with which they are read along an axis, in elements; or their
    last two strides swapped, or all of them those of a contiguous tensor, or of one whose axes lie in the
    same order without a gap. Where several steps give the same, the size is None.
    """

    inputs: tuple[int, ...]
    axis: int | Literal["swapped", "contiguous", "packed"]
    size: int | None = 0


def misread(trial: Trial, finding: Finding, evidence: Evidence) -> Speech | None:
    """The rule of the diagnosis for an offset that is left out, or multiplied by what is no stride.

    The reference, on inputs with another stride along one axis, gives what came.
    """
    alike = [t for t in evidence.failed if t.challenge is trial.challenge and t.answer and not t.rows]
    for tried in [t for t in alike if t.findings[0].kind in KINDS and _small(t) and _tells(t)][:TRIED]:
        for step in _steps(tried):
            found = _explains(tried, step)
            if found and not explained(_on_noise(tried, step), tried, backward=False):
                sentence, look_at = _told(tried, step if _alone(tried, step) else replace(step, size=None))
                return placed(sentence, found), look_at, tried
    return None


def _explains(trial: Trial, step: Step) -> Any:
    wrong = _read(trial, step)
    return explained(wrong, trial, backward=False) if wrong else None


def _alone(trial: Trial, step: Step) -> bool:
    """Whether no other step along its axis gives the same: where all rows but one are NaN, many do."""
    rivals = [one for one in _steps(trial) if (one.inputs, one.axis) == (step.inputs, step.axis)]
    return not any(_explains(trial, rival) for rival in rivals if rival != step)


def _tells(trial: Trial) -> bool:
    """Whether enough numbers came: of so many inputs some give any one number, and many give NaN or Inf.
    Equal ones are one: 0 is the largest's index in many a row, and what is masked in many a result.
    """
    outputs = trial.answer.outputs[: trial.asked_for] if trial.answer else []
    tensors = [out for out in outputs if torch.is_tensor(out)]
    return sum(len(set(out[out.isfinite()].tolist())) for out in tensors) >= NUMBERS


def _small(trial: Trial) -> bool:
    sizes = [value.numel() for value in trial.arguments if isinstance(value, torch.Tensor)]
    return trial.challenge.chance is None and sum(sizes) <= LARGEST


def _steps(trial: Trial) -> Iterator[Step]:
    """Swapped strides, no step at all, the strides and lengths of all that the call was given, and the
    strides of a packed tensor; for one input, or for all that have as many axes.
    """
    tensors = {n: v for n, v in enumerate(trial.arguments) if isinstance(v, torch.Tensor)}
    wide = {s for v in tensors.values() for s in v.stride() if s > 0}
    wide |= {math.prod(v.shape[axis:]) for v in tensors.values() for axis in range(v.dim())}
    wide |= {size for size in trial.case.sizes.values() if isinstance(size, int) and size > 0}
    wide |= {size // 2 for size in trial.case.sizes.values() if isinstance(size, int) and size > 1}
    floating = [n for n, v in tensors.items() if v.dtype.is_floating_point]
    groups = [[n] for n in floating]
    groups += [g for d in range(1, 5) if len(g := [n for n in floating if tensors[n].dim() == d]) > 1]
    for group in groups:
        if tensors[group[0]].dim() > 1:
            yield Step(tuple(group), "swapped")
        for axis in range(tensors[group[0]].dim()):
            if any(tensors[n].shape[axis] > 1 for n in group):
                yield from (Step(tuple(group), axis, step) for step in sorted({0, 1, *wide}))
        if len(group) == 1 and tensors[group[0]].dim() > 1:
            yield from (Step(tuple(group), how) for how in ("contiguous", "packed"))


def _read(trial: Trial, step: Step) -> Callable[..., Any] | None:
    """The reference on inputs that are read so; None where they lie so, or where that leaves their memory."""
    reads = {n: _seen(trial.arguments[n], step) for n in step.inputs}
    if any(read is None for read in reads.values()):
        return None
    pairs = [(readable(read), readable(trial.arguments[n])) for n, read in reads.items() if read is not None]
    if all(torch.equal(read, given) for read, given in pairs):
        return None

    def wrong(*arguments: Any) -> Any:
        read = {n: value.to(arguments[n].dtype) for n, value in reads.items() if value is not None}
        return trial.challenge.reference(*(read.get(n, value) for n, value in enumerate(arguments)))

    return wrong


def _on_noise(trial: Trial, step: Step) -> Callable[..., Any]:
    """The reference on random numbers in these inputs: of what ignores them any reading gives the same."""

    def wrong(*arguments: Any) -> Any:
        drawn = torch.Generator().manual_seed(0)
        noise = {n: torch.randn(arguments[n].shape, generator=drawn).to(arguments[n]) for n in step.inputs}
        return trial.challenge.reference(*(noise.get(n, value) for n, value in enumerate(arguments)))

    return wrong


def _seen(given: torch.Tensor, step: Step) -> torch.Tensor | None:
    strides = [step.size or 0 if axis == step.axis else old for axis, old in enumerate(given.stride())]
    if step.axis == "swapped":
        strides[-2:] = strides[:-3:-1]
    if step.axis in ("contiguous", "packed"):
        strides = _packed(given, by_size=step.axis == "packed")
    last = given.storage_offset() + sum((n - 1) * s for n, s in zip(given.shape, strides, strict=True))
    if not given.numel() or last * given.itemsize >= given.untyped_storage().nbytes():
        return None
    return given.as_strided(given.shape, strides)


def _packed(given: torch.Tensor, by_size: bool) -> list[int]:
    """Strides without a gap, the last axis innermost or, `by_size`, that of the smallest stride."""
    strides, step = [0] * given.dim(), 1
    inner = range(given.dim())[::-1]
    for axis in sorted(inner, key=given.stride) if by_size else inner:
        strides[axis], step = step, step * given.shape[axis]
    return strides


def _told(trial: Trial, step: Step) -> tuple[str, str]:
    names = " and ".join(trial.names[n] for n in step.inputs)
    verb = "is" if len(step.inputs) == 1 else "are"
    if not isinstance(step.axis, int):
        one = len(step.inputs) == 1
        how = {
            "swapped": f"with {'its' if one else 'their'} last two strides swapped",
            "contiguous": f"as if {'it was' if one else 'they were'} contiguous",
            "packed": f"as if nothing lay between {'its' if one else 'their'} rows or columns",
        }[step.axis]
        return (
            f"The values are what comes out if {names} {verb} read {how}.",
            f"where the strides of {names} are used, and where the launcher hands them over",
        )
    is_read = f"{names} {verb} read as if elements along axis {step.axis} "
    apart = " and ".join(dict.fromkeys(str(trial.arguments[n].stride(step.axis)) for n in step.inputs))
    lay = "another distance" if step.size is None else step.size
    said = f"{is_read}lay {lay} apart. They lie {apart} apart: another number than the stride is there"
    look_at = f"how the address of {names.split()[0]} is made"
    if step.size == 0:
        said = f"{is_read}were all the first one: the offset along that axis is left out"
    else:
        look_at += ", and what the launcher hands over for its strides"
    return f"The values are what comes out if {said}.", look_at
