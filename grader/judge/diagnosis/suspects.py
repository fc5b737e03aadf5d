"""Wrong functions that a day expects to meet: does one of them give just what the learner's kernel gave?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader.answers import Called, PlainOutput
from grader.judge.case.compare import Expected, Finding, gate
from grader.judge.case.oracle import suspect
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Evidence, Speech
from grader.judge.diagnosis.fit import FIT

KINDS = ("values", "nan", "inf", "special", "scalar")
UNLIKE = 0.02  # of the norm: a suspect so far from what is right would have failed
HALF = 0.5  # of what fails like the case that a suspect explains, where that is not the first
CLEARER = 0.25  # a suspect must leave at most this share of the distance to the truth


def suspected(trial: Trial, finding: Finding, evidence: Evidence) -> Speech | None:
    """The rule of the diagnosis: the suspect that explains most of what is wrong, best with the first.

    One that explains another case than the first must explain half of what fails in the same way. A suspect
    that would be wrong where the kernel is right is none.
    """
    alike = (t for t in evidence.failed if t.challenge is trial.challenge and t.answer and not t.rows)
    wrong = [t for t in alike if t.findings[0].kind in KINDS]
    found: list[tuple[bool, int, str, list[Trial]]] = []
    for sentence, function in trial.challenge.suspects.items():
        explained = [other for other in wrong if _explains(function, other)]
        first = bool(explained) and explained[0] is trial
        if explained and (first or len(explained) >= HALF * len(_like(explained[0], wrong))):
            found.append((first, len(explained), sentence, explained))
    for _, _, sentence, explained in sorted(found, key=lambda one: one[:2], reverse=True):
        if not _refuted(trial.challenge.suspects[sentence], explained[0], evidence):
            return sentence, "the formula", explained[0]
    return None


def _like(trial: Trial, others: list[Trial]) -> list[Trial]:
    """Those with the same kind of finding."""
    return [other for other in others if other.findings[0].kind == trial.findings[0].kind]


def _refuted(function: Callable[..., Any], explained: Trial, evidence: Evidence) -> bool:
    """Whether a suspect is wrong in a case like the one it explains, and no smaller, that passed.

    In another dtype or for fewer elements a kernel may take other blocks.
    """
    alike = (
        other
        for other in evidence.passed
        if other.challenge is explained.challenge
        and (other.case.dtype, other.case.values) == (explained.case.dtype, explained.case.values)
        and _elements(other) >= _elements(explained)
    )
    return any(_differs(function, other) for other in alike if other.answer and not other.rows)


def _elements(trial: Trial) -> int:
    return sum(value.numel() for value in trial.arguments if isinstance(value, torch.Tensor))


def _differs(function: Callable[..., Any], trial: Trial) -> bool:
    """Whether some output is far from what the suspect gives, though it is right."""
    if not _wanted(trial):
        return bool(_returned(trial) != function(*trial.arguments))
    guesses = suspect(function, trial.challenge, trial.arguments, trial.kept, trial.upstream)
    exact = [want.exact for want in _wanted(trial)]
    if len(guesses) != len(exact) or any(g.shape != e.shape for g, e in zip(guesses, exact, strict=True)):
        return True
    pairs = zip(guesses, _wanted(trial), strict=True)
    return any(_distance(guess, want.exact) > _unlike(want) for guess, want in pairs)


def _unlike(want: Expected) -> float:
    """A distance from what is right that no rounding explains."""
    share = UNLIKE if want.dtype.is_floating_point else 0.0
    return share * float(want.exact.double().nan_to_num(posinf=0.0, neginf=0.0).norm())


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
