"""A result that is off by one number, or by one factor, in all that failed."""

from __future__ import annotations

import math

import torch

from grader.challenge.harness.compare import CLOSE, Finding, gate, relative
from grader.challenge.harness.trial import Trial
from grader.diagnosis.evidence import Evidence, Speech
from grader.diagnosis.match_threshold import FIT, close, out_dtype, wrong_output

DIFFERENT = 1e-3  # from 1 or 0: what is nearer is rounding
LEAST = 3  # elements that are told apart from one another: of fewer, too many numbers are true


def off(trial: Trial, finding: Finding, evidence: Evidence) -> Speech | None:
    """The rule of the diagnosis: one number, with the same digits, of all that failed by values and has
    enough of them.
    """
    pairs = [(other, *pair) for other in evidence.failed if (pair := wrong_output(other))]
    pairs = [one for one in pairs if len({*one[2].flatten().tolist()}) >= LEAST]
    if any(relative(other.findings[0]) <= CLOSE for other, *_ in pairs):
        return None  # a rounding
    for number in (_shift, _scale):
        told = {number(*one) for one in pairs}
        if len(told) == 1 and (said := told.pop()):
            return said, "what is stored", pairs[0][0]
    return None


def _shift(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> str:
    offset, dtype = float((got - want).mean()), out_dtype(trial)
    much = math.isfinite(offset) and abs(offset) > _rounding(dtype) * float(want.abs().mean())
    return f"Every element is off by {offset:+.3g}." if much and close(got, want + offset, dtype) else ""


def _scale(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> str:
    factor, dtype = float((got * want).sum() / (want * want).sum()), out_dtype(trial)
    much = math.isfinite(factor) and min(abs(factor), abs(factor - 1)) > _rounding(dtype)
    told = f"Every element is {factor:.3g} times what it should be."
    return told if much and close(got, factor * want, dtype) else ""


def _rounding(dtype: torch.dtype) -> float:
    """What is as near to 1 may be rounding."""
    return max(DIFFERENT, FIT * gate(dtype))
