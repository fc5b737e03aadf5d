"""What a wrong result looks like: the input, the right one transposed, or all of it off by one number."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from grader.challenge.cases.compare import Finding, gate
from grader.challenge.cases.trial import Trial
from grader.diagnosis.closeness import FIT, close, out_dtype, wrong_output
from grader.diagnosis.evidence import Diagnosis, Evidence, Speech

Pattern = Callable[[Trial, torch.Tensor, torch.Tensor], Diagnosis | None]
DIFFERENT = 1e-3  # from 1 or 0: what is nearer is rounding
LEAST = 3  # elements that are told apart from one another: of fewer, too many patterns are true


def values(trial: Trial, finding: Finding, evidence: Evidence) -> Speech | None:
    """The rule of the diagnosis: the first pattern that is true, with the same words, of all that failed by
    values and has enough of them.
    """
    pairs = [(other, *pair) for other in evidence.failed if (pair := wrong_output(other))]
    pairs = [one for one in pairs if len({*one[2].flatten().tolist()}) >= LEAST]
    for pattern in PATTERNS:
        told = {pattern(*one) for one in pairs}
        if len(told) == 1 and (same := told.pop()):
            return *same, pairs[0][0]
    return None


def _copied(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> Diagnosis | None:
    dtype = out_dtype(trial)
    for argument, name in zip(trial.arguments, trial.names, strict=True):
        if not isinstance(argument, torch.Tensor) or argument.shape != got.shape:
            continue
        given = argument.cpu().double()
        if close(got, given, dtype) and not close(want, given, dtype):
            return f"The result is {name}, copied: the input comes back unchanged.", "what is stored"
    return None


def _transposed(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> Diagnosis | None:
    if got.dim() < 2 or min(got.shape[-2:]) < 2:
        return None
    flipped = want.mT.contiguous().view(got.shape)
    if close(got, flipped, out_dtype(trial)) and not close(want, flipped, out_dtype(trial)):
        return "The result is transposed: rows and columns are swapped.", "the offsets of the store"
    return None


def _one_row(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> Diagnosis | None:
    if got.dim() < 2 or got.shape[0] < 2 or close(want, want[:1].expand_as(want), out_dtype(trial)):
        return None
    if not close(got, got[:1].expand_as(got), out_dtype(trial)):
        return None
    return "The result is the same all along its first axis.", "tl.program_id in the offsets"


def _scaled(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> Diagnosis | None:
    factor = float((got * want).sum() / (want * want).sum())
    if not math.isfinite(factor) or min(abs(factor), abs(factor - 1)) <= _rounding(trial):
        return None
    if not close(got, factor * want, out_dtype(trial)):
        return None
    if abs(factor + 1) <= _rounding(trial):
        return "Every element is right but for its sign.", "what is stored"
    return f"Every element is {factor:.3g} times what it should be.", "what is stored"


def _shifted(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> Diagnosis | None:
    offset = float((got - want).mean())
    if not math.isfinite(offset) or abs(offset) <= _rounding(trial) * float(want.abs().mean()):
        return None
    if not close(got, want + offset, out_dtype(trial)):
        return None
    return f"Every element is off by {offset:+.3g}.", "what is stored"


def _rounding(trial: Trial) -> float:
    """What is as near to 1 may be rounding."""
    return max(DIFFERENT, FIT * gate(out_dtype(trial)))


PATTERNS: tuple[Pattern, ...] = (_copied, _transposed, _one_row, _shifted, _scaled)
