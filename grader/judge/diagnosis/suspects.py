"""Wrong functions that a day expects to meet: does one of them give just what the learner's kernel gave?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader.answers import Called, PlainOutput
from grader.judge.case.compare import Expected, Finding, gate
from grader.judge.case.oracle import suspect
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.fit import FIT

KINDS = ("values", "nan", "inf", "special", "scalar")
CLEARER = 0.25  # a suspect must leave at most this share of the distance to the truth


def suspected(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis: the suspect that explains most of what is wrong."""
    wrong = [t for t in evidence.failed if t.answer and not t.rows and t.findings[0].kind in KINDS]
    explained = {
        sentence: sum(_explains(function, other) for other in wrong)
        for sentence, function in trial.challenge.suspects.items()
    }
    best = max(explained, key=lambda sentence: explained[sentence], default="")
    return (best, "the formula") if best and explained[best] else None


def _explains(function: Callable[..., Any], trial: Trial) -> bool:
    """All outputs are what the suspect gives, and one of them is far from what is right."""
    assert trial.answer is not None
    if trial.findings[0].kind == "scalar":
        return bool(_returned(trial) == function(*trial.arguments))
    guesses = suspect(function, trial.challenge, trial.arguments, trial.kept, trial.upstream)
    outputs = trial.answer.outputs
    if len(guesses) != len(outputs) or any(g.shape != o.shape for g, o in zip(guesses, outputs, strict=True)):
        return False
    told_apart = False
    for out, guess, want in zip(outputs, guesses, _wanted(trial), strict=True):
        off = _distance(out, guess)
        if off > _allowed(guess, want.dtype):
            return False
        wrong = _distance(out, want.exact)
        told_apart |= off <= CLEARER * wrong and wrong > 0
    return told_apart


def _returned(trial: Trial) -> int | float | bool | None:
    """The number that the function returned; None where it is none."""
    report = trial.answer.report if trial.answer else None
    first = report.outputs[0] if isinstance(report, Called) else None
    return first.value if isinstance(first, PlainOutput) else None


def _wanted(trial: Trial) -> list[Expected]:
    return [want for want in trial.expected if isinstance(want, Expected)]


def _allowed(guess: torch.Tensor, dtype: torch.dtype) -> float:
    gated = FIT * gate(dtype) if dtype.is_floating_point else 0.0
    return gated * float(guess.nan_to_num(posinf=0.0, neginf=0.0).norm())


def _distance(a: torch.Tensor, b: torch.Tensor) -> float:
    """‖a − b‖ in fp64, with NaN and Inf equal to themselves alone."""
    apart = a.double() - b.double()
    if not bool(apart.sum().isfinite()):
        same = (a == b) | (a.isnan() & b.isnan())
        apart = torch.where(same, 0.0, apart).nan_to_num(nan=1e30, posinf=1e30, neginf=1e30)
    return float(apart.norm())
