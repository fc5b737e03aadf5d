"""One case tried on the learner's function: inputs drawn, call made, result held against the oracle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch

from grader import datasheets
from grader.challenge import Case, Challenge
from grader.challenge.cases.expected import ask_for_gradients, ask_for_outputs, ask_oracle, choose
from grader.challenge.cases.findings import find, form_findings
from grader.challenge.cases.inputs_of_repeated_calls import others
from grader.challenge.cases.oracle import Values
from grader.challenge.cases.packing import Answer, pack_arguments, read_outputs
from grader.challenge.cases.result_names import returned
from grader.challenge.cases.runner_client import Runner
from grader.challenge.cases.trial import Trial, draw, repeatable
from grader.kernel.traced_step import Step
from grader.request import Request
from grader.runner_answers import Called


class Attempt:
    """One case on its way: drawn, asked of a runner, answered, judged.

    Args:
        names: what the learner calls the arguments, for messages.
        arguments: instead of those that the case draws.

    Attributes:
        trial: as far as it has come.
        asked: the runner that makes, or has made, its call.
    """

    def __init__(
        self,
        challenge: Challenge,
        case: Case,
        names: list[str],
        request: Request,
        arguments: Values | None = None,
    ) -> None:
        self.request, self.device = request, "cuda" if request.device == "gpu" else "cpu"
        arguments = draw(challenge, case, request.seed, self.device) if arguments is None else arguments
        trial = Trial(challenge, case, arguments, names[: len(arguments)], oracle_arguments=arguments)
        trial.results = _names_of_results(trial, request)
        self.trial = trial
        self.asked: Runner | None = None
        self.slices = choose(trial, request.rng(case.id, "rows"))
        if challenge.chance:  # until the answer says what was kept: all
            first = next(value for value in trial.oracle_arguments if isinstance(value, torch.Tensor))
            trial.kept = (torch.ones_like(first, dtype=torch.bool),)
        self.oracles = [partial(ask_for_outputs, trial, request.seed, self.device)]
        if challenge.gradients:  # the runner is handed upstream ones, which look like the outputs
            self.work_out()
            self.oracles = [partial(ask_for_gradients, trial)]

    @property
    def beside(self) -> bool:
        """Whether memory has room for what is right and for the call at once."""
        return repeatable(self.trial.arguments)

    def ask(self, runner: Runner) -> None:
        """Have a runner make the call.

        Raises:
            RunnerLost: it crashed.
        """
        if not self.beside:
            self.work_out()
        self._answer = _begin(runner, self.trial, self.slices, self.request)
        self.asked = runner

    def work_out(self) -> None:
        """What is right, as far as that does not hang on the answer."""
        while self.oracles:
            self.oracles.pop()()

    def read(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Wait for the answer.

        Args:
            meanwhile: what else is to be done until it is there.

        Raises:
            RunnerLost: the runner crashed or hung.
        """
        if self.trial.answer is None:
            try:
                self.work_out()
                meanwhile()
            finally:  # an answer that nobody reads would be taken for that of the next command
                self.trial.answer = self._answer()

    def judged(self) -> Trial:
        """The trial, with what is wrong with it."""
        trial, challenge = self.trial, self.trial.challenge
        assert trial.answer is not None
        if challenge.chance and not form_findings(trial):
            outputs = [out.to(self.device) for out in trial.answer.outputs]
            trial.kept = (challenge.chance.keep(*trial.oracle_arguments, *outputs),)
            ask_oracle(trial, self.request.seed, self.device)
        trial.findings = find(trial)
        return trial


def attempt(
    runner: Runner,
    challenge: Challenge,
    case: Case,
    names: list[str],
    request: Request,
) -> Trial:
    """Try one case.

    Args:
        names: what the learner calls the arguments, for messages.

    Raises:
        RunnerLost: the runner crashed or hung; the trial is lost with it.
    """
    one = Attempt(challenge, case, names, request)
    one.ask(runner)
    one.read()
    return one.judged()


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
    answer = _ask(runner, trial, None, request)
    trial = replace(trial, answer=answer, findings=[])
    trial.findings = find(trial)
    return trial


def steps_behind(runner: Runner, trial: Trial, request: Request) -> list[Step]:
    """By which steps the first element that is wrong came to be, evaluated.

    Raises:
        RunnerLost: the runner crashed or hung.
    """
    facts = trial.findings[0].facts
    answer = _begin(runner, trial, None, request, (facts["result"], facts.get("index", [])))()
    report = answer.report
    return report.made if isinstance(report, Called) else []


def behind(runner: Runner, trial: Trial, between: Values, request: Request) -> Answer:
    """The answer to the same call where the forward pass of another, of these arguments, comes between its
    forward and backward pass.

    Raises:
        RunnerLost: the runner crashed or hung.
    """
    return _begin(runner, trial, None, request, between=between)()


def untried(challenge: Challenge, case: Case, names: list[str], request: Request) -> Trial:
    """A small case with its inputs and what is right for them, for `again`."""
    device = "cuda" if request.device == "gpu" else "cpu"
    arguments = draw(challenge, case, request.seed, device)
    trial = Trial(challenge, case, arguments, names[: len(arguments)], oracle_arguments=arguments)
    ask_oracle(trial, request.seed, device)
    return trial


def _ask(runner: Runner, trial: Trial, slices: list[list[int]] | None, request: Request) -> Answer:
    return _begin(runner, trial, slices, request)()


def _begin(
    runner: Runner,
    trial: Trial,
    slices: list[list[int]] | None,
    request: Request,
    traced: tuple[int, list[int]] | None = None,
    between: Values = (),
) -> Callable[[], Answer]:
    """Have the runner make the call; what is returned waits for its answer.

    Args:
        traced: a result and an element of it: by which steps it came to be is asked.
        between: arguments of a call whose forward pass comes before the backward pass of this one.
    """
    challenge, case = trial.challenge, trial.case
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
    if earlier:  # further contents go the way of all bytes
        runner.send(command, blobs)
    else:
        runner.send_with(command, blobs, timeout=request.call_timeout)

    def answer() -> Answer:
        report, data = runner.answer(Called, timeout=request.call_timeout)
        sliced = sum(stop - start for start, stop in slices) if slices else None
        return Answer(report, *read_outputs(report, data, sliced))

    return answer
