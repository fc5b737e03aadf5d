"""The launches of a case made once more on another draw of it, by the runner alone.

Kernels compute all that follows from the values of inputs, so that the same launches give the right result
for other contents, too. What the launcher worked out itself, by whatever means, handed over or remembered, is
still that of the first draw. Which cases are tried again nobody can know while the learner's code runs.
"""

from __future__ import annotations

from dataclasses import replace

import torch

from grader.challenge.harness.argument_serialization import pack_arguments, read_outputs
from grader.challenge.harness.compare import CLOSE, Finding, nearly
from grader.challenge.harness.run_case import again
from grader.challenge.harness.runner_client import Runner
from grader.challenge.harness.trial import LARGEST, Trial, ask_oracle, draw, largest, repeatable
from grader.challenge.harness.value_checks import all_right, value_findings
from grader.request import Request
from grader.runner_answers import Called, Failed, Repeated

Way = frozenset[tuple[str, str, int | None]]
SHARE = 0.2  # of the cases


def _chosen(trial: Trial, request: Request, ways: set[Way]) -> bool:
    """Whether this one is tried again: the first that launches in its way, which is known then, those of
    several calls, some by lot, and those whose launcher had a way to values, large ones too.
    """
    challenge, case = trial.challenge, trial.case
    # Of a limit one draw may come out right and the next wrong: that tells nothing of who computes.
    if challenge.is_limit(case.demand) or not trial.passed or not repeatable(trial.arguments):
        return False
    report = trial.called
    if not report or {*report.foreign} - {*challenge.allow}:
        return False
    if report.looked or report.elsewhere:
        return True
    if largest(trial.arguments) > LARGEST:
        return False
    if (way := _way(report)) not in ways:
        ways.add(way)
        return True
    return case.calls > 1 or request.rng(case.id, "repeated").random() < SHARE


def _way(report: Called) -> Way:
    """Its kernels, and which input each of their parameters is, if any."""
    place = {address: number for number, address in enumerate(report.inputs)}
    return frozenset(
        (launch.kernel, name, place.get(address))
        for launch in report.launches
        for name, address in launch.handed.items()
    )


def repeated(runner: Runner, trial: Trial, request: Request, ways: set[Way]) -> Trial | None:
    """The trial of the same launches on another draw, with a finding if they do not give its result, and with
    their answer if that is nearly right, or a plain call's if that is wrong as well: no launcher's doing.

    Args:
        ways: those in which launches were made so far, to which this one's is added.

    Returns:
        None for most cases, and where it cannot be told: no other draw lies in memory alike, or torch did
        part of the work that is not allowed, which is told anyway.

    Raises:
        RunnerLost: the runner crashed or hung.
    """
    if not trial.answer or not _chosen(trial, request, ways):
        return None
    second = _other(trial, request)
    specs, blobs = pack_arguments(*second.runner_arguments())
    if specs != pack_arguments(*trial.runner_arguments())[0]:
        return None
    answer, data = runner.ask({"do": "repeat"}, Repeated, blobs, timeout=request.call_timeout)
    outputs = [] if isinstance(answer, Failed) else read_outputs(trial.answer.report, data, None)[0]
    if trial.challenge.chance and outputs:
        there = (out.to(request.torch_device) for out in outputs)
        second.kept = (trial.challenge.chance.keep(*second.arguments, *there),)
        ask_oracle(second, request)
    if len(outputs) == len(trial.answer.outputs):
        if all_right(second, outputs):
            return second
        second.answer = replace(trial.answer, outputs=outputs)
        second.findings = value_findings(second)
        if nearly(second.findings):
            return second
        if not trial.challenge.chance and (wrong := _wrong_as_ever(runner, second, request)):
            return wrong
    second.answer = None
    second.findings = [Finding("launcher", "the launches alone do not give the result")]
    return second


def _wrong_as_ever(runner: Runner, second: Trial, request: Request) -> Trial | None:
    """A plain call on these inputs, if it gives just what the launches gave: it is they that are wrong."""
    called = again(runner, second, request)
    pairs = zip(called.outputs, second.outputs, strict=False)
    same = called.outputs and all(_alike(one, other) for one, other in pairs)
    return called if same and not called.passed else None


def _alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Equal but for the order of additions."""
    return one.shape == other.shape and torch.allclose(
        one.double(), other.double(), rtol=CLOSE, atol=0.0, equal_nan=True
    )


def _other(trial: Trial, request: Request) -> Trial:
    """The same case, drawn once more; its numbers stay."""
    seed = request.rng(trial.case.id, "another").getrandbits(32)
    drawn = draw(trial.challenge, trial.case, seed, request.torch_device)
    pairs = zip(drawn, trial.arguments, strict=True)
    arguments = tuple(new if isinstance(new, torch.Tensor) else old for new, old in pairs)
    names, results = trial.names, trial.results
    second = Trial(trial.challenge, trial.case, arguments, names, results, oracle_arguments=arguments)
    second.kept, second.redrawn = trial.kept, True
    ask_oracle(second, request, seed)
    return second
