"""Whole heads, or matrices of a batch, that hold what is right for another one."""

from __future__ import annotations

import math

import torch

from grader.judge.case.naming import element
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.fit import close, out_dtype, wrong_dtype

FEWEST = 3  # parts: of two, one may be the other for many reasons
MANY = 64  # parts of a case that are held against one another


def is_reordered(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> tuple[str, str] | None:
    """Each part that is wrong is right for another place, and no two of them for the same."""
    if not wrong_dtype(trial).is_floating_point:
        return None
    for axes in range(1, got.dim() - 1):
        found = _moved(got.flatten(0, axes - 1), want.flatten(0, axes - 1), out_dtype(trial))
        if found:
            here, there = (_index(number, want.shape[:axes]) for number in found)
            what = "matrix" if axes == 1 else "batch or head"
            place = f"{element(_name(trial), here)} holds what belongs to {element('', there)}"
            return (
                f"{place}: each part is right, in another place. The {what} that a program reads is not the "
                "one that it stores to.",
                f"how a program's number becomes that of the {what}",
            )
    return None


def _moved(got: torch.Tensor, want: torch.Tensor, dtype: torch.dtype) -> tuple[int, int] | None:
    """The first part that stands elsewhere than it should, and where it should; None if that is not all."""
    count = len(want)
    if not FEWEST <= count <= MANY:
        return None
    wrong = [n for n in range(count) if not close(got[n], want[n], dtype)]
    owners = [next((m for m in range(count) if close(got[n], want[m], dtype)), None) for n in wrong]
    if len(wrong) < 2 or None in owners or len(set(owners)) < len(owners):
        return None
    return next((n, m) for n, m in zip(wrong, owners, strict=True) if m is not None)


def _index(number: int, shape: torch.Size) -> list[int]:
    return [number // math.prod(shape[axis + 1 :]) % size for axis, size in enumerate(shape)]


def _name(trial: Trial) -> str:
    """Which result: `dk`, or the only one."""
    at = str(trial.findings[0].facts.get("at", ""))
    return at.partition("[")[0] or trial.findings[0].facts.get("label") or "the result"
