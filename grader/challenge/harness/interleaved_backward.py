"""A backward pass that comes after another forward pass, as in every network with two layers of a kind.

What it needs belongs to its own graph. In a global, or on the class of an autograd function, lies what the
last forward pass left there, which in a single call is the right thing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from grader.challenge import Case, Challenge
from grader.challenge.harness.compare import Finding, nearly
from grader.challenge.harness.run_case import behind
from grader.challenge.harness.runner_client import Runner
from grader.challenge.harness.trial import Trial, draw
from grader.challenge.harness.value_checks import value_findings
from grader.challenge.loading import weight
from grader.request import Request
from grader.runner_answers import Failed


def interleaved(runner: Runner, trial: Trial, request: Request) -> Finding | None:
    """What is wrong with the gradients of a case of several calls that is right by itself.

    Raises:
        RunnerLost: the runner crashed or hung.
    """
    if not trial.passed or not trial.of or trial.case.calls == 1:
        return None
    for other in others(trial.challenge, trial.case):
        if wrong := _wrong(runner, trial, other, request):
            reason = (
                f"the backward pass {wrong} where another forward pass, of {other.id}, came after its own"
            )
            said = (
                f"{reason[0].upper()}{reason[1:]}. What it needs is kept in a global or on the class, where "
                "the next forward pass replaces it: keep it on ctx."
            )
            return Finding("interleaved", reason, told=(said, "what the forward pass keeps elsewhere"))
    return None


def _wrong(runner: Runner, trial: Trial, other: Case, request: Request) -> str:
    """What the backward pass did behind another case's forward pass, in words; empty where it is right."""
    assert trial.answer is not None
    arguments = draw(trial.challenge, other, request.seed, request.torch_device)
    answer = behind(runner, trial, arguments, request)
    if isinstance(answer.report, Failed):
        return f"raised {answer.report.fault.type}"
    wrong = value_findings(replace(trial, answer=replace(trial.answer, outputs=answer.outputs)))
    # Atomics round in another order each time, and what is off by that keeps nothing elsewhere.
    return "" if nearly(wrong) else "gave wrong gradients"


def others(challenge: Challenge, case: Case) -> Iterator[Case]:
    """Cases with other sizes and numbers than this one, those with most first; each has one that none before
    it had.
    """
    alike = {name for other in challenge.cases for name in other.sizes}
    plain = [other for other in challenge.cases if not other.gpu and other.calls == 1]
    for other in sorted(plain, key=lambda other: (-len(_unlike(case, other, alike)), weight(other))):
        if unlike := _unlike(case, other, alike):
            alike -= unlike
            yield other


def _unlike(one: Case, other: Case, names: set[str]) -> set[str]:
    """Those of some names that are another number in the other case."""
    pairs = ((name, one.get(name), other.get(name)) for name in names)
    return {name for name, mine, theirs in pairs if mine != theirs and not isinstance(theirs, str)}
