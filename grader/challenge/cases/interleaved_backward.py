"""A backward pass that comes after another forward pass, as in every network with two layers of a kind.

What it needs belongs to its own graph. In a global, or on the class of an autograd function, lies what the
last forward pass left there, which in a single call is the right thing.
"""

from __future__ import annotations

from dataclasses import replace

from grader import datasheets
from grader.challenge import Case, Challenge
from grader.challenge.cases.compare import Finding, nearly
from grader.challenge.cases.compare_values import value_findings
from grader.challenge.cases.packing import pack_arguments, read_outputs
from grader.challenge.cases.runner_client import Runner
from grader.challenge.cases.trial import Trial, draw
from grader.challenge.loading import weight
from grader.request import Request
from grader.runner_answers import Failed, Repeated


def interleaved(runner: Runner, trial: Trial, request: Request) -> Finding | None:
    """What is wrong with the gradients of a case of several calls that is right by itself.

    Raises:
        RunnerLost: the runner crashed or hung.
    """
    if not trial.passed or not trial.of or trial.case.calls == 1:
        return None
    other = most_unlike(trial.challenge, trial.case)
    wrong = _wrong(runner, trial, other, request) if other else ""
    if not other or not wrong:
        return None
    reason = f"the backward pass {wrong} where another forward pass, of {other.id}, came after its own"
    said = (
        f"{reason[0].upper()}{reason[1:]}. What it needs is kept in a global or on the class, where the next "
        "forward pass replaces it: keep it on ctx."
    )
    return Finding("interleaved", reason, told=(said, "what the forward pass keeps elsewhere"))


def _wrong(runner: Runner, trial: Trial, other: Case, request: Request) -> str:
    """What the backward pass did behind another case's forward pass, in words; empty where it is right."""
    assert trial.answer is not None
    arguments = draw(trial.challenge, other, request.seed, request.torch_device)
    specs, blobs = pack_arguments(*trial.runner_arguments())
    others, further = pack_arguments(arguments, trial.names[: len(arguments)])
    command = {
        "do": "interleaved",
        "entry": trial.challenge.entry,
        "arguments": specs[: len(trial.arguments)],
        "upstream": specs[len(trial.arguments) :],
        "of": trial.of,
        "writes": list(trial.challenge.writes),
        "calls": trial.case.calls if trial.challenge.writes else 1,
        "other": others,
        "split": len(blobs),
        "allow": list(trial.challenge.allow),
        "again": False,
        "gpu": datasheets.sheet(request.gpu) if request.gpu else None,
    }
    answer, data = runner.ask(command, Repeated, [*blobs, *further], timeout=request.call_timeout)
    if isinstance(answer, Failed):
        return f"raised {answer.fault.type}"
    again = replace(
        trial, answer=replace(trial.answer, outputs=read_outputs(trial.answer.report, data, None)[0])
    )
    wrong = value_findings(again)
    # Atomics round in another order each time, and what is off by that keeps nothing elsewhere.
    return "" if nearly(wrong) else "gave wrong gradients"


def most_unlike(challenge: Challenge, case: Case) -> Case | None:
    """The smallest of those cases of a single call that have most other sizes and numbers than this one."""
    names = {name for other in challenge.cases for name in other.sizes}

    def unlike(other: Case) -> int:
        pairs = ((case.get(name), other.get(name)) for name in names)
        return sum(mine != theirs and not isinstance(theirs, str) for mine, theirs in pairs)

    plain = [other for other in challenge.cases if not other.gpu and other.calls == 1]
    return max(plain, key=lambda other: (unlike(other), -weight(other)), default=None)
