"""One case tried on the learner's function: inputs drawn, call made, result held against the oracle."""

from __future__ import annotations

from dataclasses import replace

import torch

from grader import datasheets
from grader.challenge import Case, Challenge
from grader.challenge.harness.answer_checks import find, form_findings
from grader.challenge.harness.argument_serialization import Answer, pack_arguments, read_outputs
from grader.challenge.harness.inputs_of_repeated_calls import others
from grader.challenge.harness.oracle import Values
from grader.challenge.harness.result_names import returned
from grader.challenge.harness.runner_client import Runner
from grader.challenge.harness.trial import Trial, ask_oracle, choose, draw, repeatable
from grader.kernel.traced_step import Step
from grader.request import Request
from grader.runner_answers import Called


def attempt(
    runner: Runner,
    challenge: Challenge,
    case: Case,
    names: list[str],
    request: Request,
    arguments: Values | None = None,
) -> Trial:
    """Try one case.

    Args:
        names: what the learner calls the arguments, for messages.
        arguments: instead of those that the case draws.

    Raises:
        RunnerLost: the runner crashed or hung; the trial is lost with it.
    """
    trial = untried(challenge, case, names, request, arguments)
    return judged(trial, _ask(runner, trial, request), request)


def untried(
    challenge: Challenge, case: Case, names: list[str], request: Request, arguments: Values | None = None
) -> Trial:
    """A case with its inputs and what is right for them; of a random function, as if it kept everything."""
    arguments = draw(challenge, case, request.seed, request.torch_device) if arguments is None else arguments
    trial = Trial(challenge, case, arguments, names[: len(arguments)], oracle_arguments=arguments)
    trial.results = _names_of_results(trial, request)
    choose(trial, request.rng(case.id, "rows"))
    if challenge.chance:
        first = next(value for value in trial.oracle_arguments if isinstance(value, torch.Tensor))
        trial.kept = (torch.ones_like(first, dtype=torch.bool),)
    ask_oracle(trial, request)
    return trial


def judged(trial: Trial, answer: Answer, request: Request) -> Trial:
    """The case with this answer; of a random function, what is right follows from what was kept."""
    trial = replace(trial, answer=answer, findings=[])
    chance = trial.challenge.chance
    if chance and not form_findings(trial):
        outputs = [out.to(request.torch_device) for out in answer.outputs]
        trial.kept = (chance.keep(*trial.oracle_arguments, *outputs),)
        ask_oracle(trial, request)
    trial.findings = find(trial)
    return trial


def _names_of_results(trial: Trial, request: Request) -> tuple[str, ...]:
    """Of the arguments that are written, then of what is returned."""
    written = tuple(trial.names[position] for position in trial.challenge.writes)
    return written + returned(request.source, trial.challenge.entry)


def again(runner: Runner, trial: Trial, request: Request, forward: bool = False) -> Trial:
    """The same case on another file: its inputs, and what is right, are known already.

    Args:
        forward: look at the outputs alone, and ask for no gradient.

    Raises:
        RunnerLost: the runner crashed or hung.
    """
    if forward:
        outputs = tuple(want for want in trial.expected if not getattr(want, "label", ""))
        challenge = replace(trial.challenge, gradients=None)
        trial = replace(trial, challenge=challenge, upstream=(), of=[], expected=outputs)
    trial = replace(trial, answer=_ask(runner, trial, request), findings=[])
    trial.findings = find(trial)
    return trial


def steps_behind(runner: Runner, trial: Trial, request: Request) -> list[Step]:
    """By which steps the first element that is wrong came to be, evaluated.

    Raises:
        RunnerLost: the runner crashed or hung.
    """
    facts = trial.findings[0].facts
    report = _ask(runner, trial, request, (facts["result"], facts.get("index", []))).report
    return report.made if isinstance(report, Called) else []


def behind(runner: Runner, trial: Trial, between: Values, request: Request) -> Answer:
    """The answer to the same call where the forward pass of another, of these arguments, comes between its
    forward and backward pass.

    Raises:
        RunnerLost: the runner crashed or hung.
    """
    return _ask(runner, trial, request, between=between)


def _ask(
    runner: Runner,
    trial: Trial,
    request: Request,
    traced: tuple[int, list[int]] | None = None,
    between: Values = (),
) -> Answer:
    """Have the runner make the call.

    Args:
        traced: a result and an element of it: by which steps it came to be is asked.
        between: arguments of a call whose forward pass comes before the backward pass of this one.
    """
    challenge, case, slices = trial.challenge, trial.case, trial.slices
    values, names = trial.runner_arguments()
    specs, blobs = pack_arguments(values, names)
    further, more = pack_arguments(between, names[: len(between)])
    split, blobs = len(blobs) if between else None, [*blobs, *more]
    earlier = others(values, request.rng(case.id, "others")) if case.calls > 1 and not between else []
    blobs += [blob for contents in earlier for blob in pack_arguments(contents, names)[1]]
    command = {
        "do": "call",
        "entry": challenge.entry,
        "probe": challenge.probe,
        "arguments": specs[: len(trial.arguments)],
        "upstream": specs[len(trial.arguments) :],
        "of": trial.of,
        "writes": list(challenge.writes),
        "allow": list(challenge.allow),
        "calls": case.calls if challenge.writes else 1,
        "others": len(earlier),
        "between": further,
        "split": split,
        "again": repeatable(trial.arguments) and not between,
        "slices": slices,
        "gpu": datasheets.sheet(request.gpu) if request.gpu else None,
        "seed": request.rng(case.id, "order").getrandbits(32),
        "traced": traced,
    }
    # Further contents go the way of all bytes.
    ask = runner.ask if earlier else runner.ask_with
    report, data = ask(command, Called, blobs, timeout=request.call_timeout)
    return Answer(
        report, *read_outputs(report, data, sum(stop - start for start, stop in slices) if slices else None)
    )
