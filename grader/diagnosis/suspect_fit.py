"""Is what a kernel gave just what a wrong function gives, and what would that have given elsewhere?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from grader.challenge.harness.compare import Expected, gate
from grader.challenge.harness.oracle import suspect
from grader.challenge.harness.trial import Trial
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.match_threshold import FIT
from grader.runner_answers import Called, PlainOutput

UNLIKE = 0.02  # of the norm: a suspect so far from what is right would have failed
CLEARER = 0.25  # a suspect must leave at most this share of the distance to the truth
TIED = 0.02  # of integers may be off by 1: a suspect rounds in fp64, and a kernel not


@dataclass(frozen=True)
class Explained:
    """A trial whose wrong outputs are what a suspect gives.

    Attributes:
        given: numbers of the outputs that the suspect gives; of the wrong ones alone, if some are `right`.
        right: of those that are right, where the suspect is wrong.
        number: not all that the suspect gives is -inf, as it is where anything leaves out all there is.
        single: of what it gives one integer alone is wrong, which other formulas may give by luck.
    """

    trial: Trial
    given: tuple[int, ...]
    right: tuple[int, ...]
    number: bool = True
    single: bool = False


def explained(function: Callable[..., Any], trial: Trial) -> Explained | None:
    """Each output and each gradient is what the suspect gives, or right; one that it gives is far from what
    is right.
    """
    assert trial.answer is not None
    if trial.findings[0].kind == "scalar":
        return Explained(trial, (), ()) if _returned(trial) == function(*trial.arguments) else None
    guesses = suspect(trial.in_calls(function), trial.arguments, trial.kept, trial.upstream, trial.of)
    outputs = trial.answer.outputs
    if len(guesses) != len(outputs) or any(g.shape != o.shape for g, o in zip(guesses, outputs, strict=True)):
        return None
    wrong = {found.facts.get("result") for found in trial.findings}
    told_apart, right, number_given, wrongs = False, [], False, 0
    for number, (out, guess, want) in enumerate(zip(outputs, guesses, wanted_of(trial), strict=False)):
        off = _distance(out, guess)
        if off > _allowed(guess, want.dtype):
            if number in wrong:
                return None
            right.append(number)
            continue
        distance = _distance(out, want.exact)
        if number in wrong:
            wrongs += 2 if out.is_floating_point() else int((out != want.exact.to(out.device)).sum())
        number_given |= not bool(guess.isneginf().all()) if guess.is_floating_point() else True
        told_apart |= off <= CLEARER * distance and distance > 0
    given = [number for number in range(len(outputs)) if number in wrong or not right]
    fits = Explained(trial, tuple(given), tuple(right), number_given, single=wrongs == 1)
    return fits if told_apart else None


def differs(function: Callable[..., Any], trial: Trial, given: tuple[int, ...]) -> bool:
    """Whether one of these outputs is far from what the suspect gives, though it is right."""
    if not wanted_of(trial):
        return bool(_returned(trial) != function(*trial.arguments))
    guesses = suspect(trial.in_calls(function), trial.arguments, trial.kept, trial.upstream, trial.of)
    exact = [want.exact for want in wanted_of(trial)]
    if len(guesses) != len(exact) or any(g.shape != e.shape for g, e in zip(guesses, exact, strict=True)):
        return True
    assert trial.answer is not None
    return any(
        _distance(guesses[number], want.exact) > _unlike(want)
        # Some of what a challenge accepts is not what the oracle gives.
        and _distance(guesses[number], trial.answer.outputs[number]) > _unlike(want)
        for number, want in enumerate(wanted_of(trial))
        if number in given
    )


def refuted(function: Callable[..., Any], ones: list[Explained], evidence: Evidence) -> bool:
    """Whether a suspect is wrong in a case like the first it explains, and no smaller, that passed.

    In another dtype, or for fewer elements, a kernel may take other blocks: there a suspect is refuted where
    it is wrong in more cases of its dtype that passed than it explains.
    """
    first, given = ones[0].trial, ones[0].given
    passed = [t for t in evidence.passed if t.challenge is first.challenge and t.answer and not t.rows]
    passed = [t for t in passed if not t.case.gpu]  # a million rows have one in which a wrong formula shows
    passed = [t for t in passed if t.case.dtype == first.case.dtype and not _empty(t)]
    passed = [t for t in passed if not any(want.exact.is_meta for want in wanted_of(t))]
    against = [other for other in passed if differs(function, other, given)]
    if any(o.case.values == first.case.values and _elements(o) >= _elements(first) for o in against):
        return True
    return len(against) > sum(one.trial.case.dtype == first.case.dtype for one in ones)


def wanted_of(trial: Trial) -> list[Expected]:
    return [want for want in trial.expected if isinstance(want, Expected)]


def _returned(trial: Trial) -> Any:
    """The number that the function returned, or its numbers; None for what is none."""
    report = trial.answer.report if trial.answer else None
    outputs = report.outputs if isinstance(report, Called) else [None]
    values = tuple(one.value if isinstance(one, PlainOutput) else None for one in outputs)
    return values if len(values) > 1 else values[0]


def _allowed(guess: torch.Tensor, dtype: torch.dtype) -> float:
    if not dtype.is_floating_point:
        return math.sqrt(TIED * guess.numel())  # the norm of so many that are off by 1
    return FIT * gate(dtype) * float(guess.nan_to_num(posinf=0.0, neginf=0.0).norm())


def _distance(a: torch.Tensor, b: torch.Tensor) -> float:
    """‖a − b‖ in fp64, with NaN and Inf equal to themselves alone; on the GPU, where one of them is."""
    device = a.device if a.is_cuda else b.device
    a, b = a.to(device), b.to(device)
    apart = a.double() - b.double()
    if not bool(apart.sum().isfinite()):
        same = (a == b) | (a.isnan() & b.isnan())
        apart = torch.where(same, 0.0, apart).nan_to_num(nan=1e30, posinf=1e30, neginf=1e30)
    return float(apart.norm())


def _unlike(want: Expected) -> float:
    """A distance from what is right that no rounding explains."""
    share = UNLIKE if want.dtype.is_floating_point else 0.0
    return share * float(want.exact.double().nan_to_num(posinf=0.0, neginf=0.0).norm())


def _empty(trial: Trial) -> bool:
    """Whether an input has no elements: a suspect need not know what to do there."""
    return any(isinstance(value, torch.Tensor) and not value.numel() for value in trial.arguments)


def _elements(trial: Trial) -> int:
    return sum(value.numel() for value in trial.arguments if isinstance(value, torch.Tensor))
