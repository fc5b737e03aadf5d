"""One case tried on the learner's function: inputs drawn, call made, result held against the oracle."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from dataclasses import replace

import torch

from grader import datasheets
from grader.answers import Called
from grader.challenge import Case, Challenge
from grader.interpreter.step import Step
from grader.judge.case.contents import others
from grader.judge.case.findings import find, form_findings
from grader.judge.case.link import Runner
from grader.judge.case.naming import returned
from grader.judge.case.oracle import Values, expect, expect_gradients, reached
from grader.judge.case.packing import LARGE, Answer, pack_arguments, read_outputs
from grader.judge.case.trial import Trial, draw, draw_upstream, repeatable
from grader.request import Request

SLICE = 4096  # elements of each piece that is fetched of an output too large to fetch whole


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
    device = "cuda" if request.device == "gpu" else "cpu"
    arguments = draw(challenge, case, request.seed, device) if arguments is None else arguments
    trial = Trial(challenge, case, arguments, names[: len(arguments)], oracle_arguments=arguments)
    trial.results = _names_of_results(trial, request)
    slices = _choose(trial, request.rng(case.id, "rows"))
    if challenge.chance:  # until the answer says what was kept: all
        first = next(value for value in trial.oracle_arguments if isinstance(value, torch.Tensor))
        trial.kept = (torch.ones_like(first, dtype=torch.bool),)
    trial.answer = _ask_both(runner, trial, slices, request, device)
    if challenge.chance and not form_findings(trial):
        outputs = [out.to(device) for out in trial.answer.outputs]
        trial.kept = (challenge.chance.keep(*trial.oracle_arguments, *outputs),)
        ask_oracle(trial, request.seed, device)
    trial.findings = find(trial)
    return trial


def _ask_both(
    runner: Runner, trial: Trial, slices: list[list[int]] | None, request: Request, device: str
) -> Answer:
    """The runner's answer, and in the trial what is right: at once where the GPU has room for both."""
    oracle = functools.partial(_ask_for_outputs, trial, request.seed, device)
    if trial.challenge.gradients:  # the runner is handed upstream ones, which look like the outputs
        oracle()
        oracle = functools.partial(_ask_for_gradients, trial)
    if not repeatable(trial.arguments):
        oracle()
        return _ask(runner, trial, slices, request)
    answer = _begin(runner, trial, slices, request)
    try:
        oracle()
    finally:  # an answer that nobody reads would be taken for that of the next command
        given = answer()
    return given


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


def steps_behind(runner: Runner, trial: Trial, request: Request) -> tuple[list[Step], list[Step]]:
    """By which steps the first element that is wrong came to be, interpreted; and which ones left fp16.

    Raises:
        RunnerLost: the runner crashed or hung.
    """
    facts = trial.findings[0].facts
    answer = _begin(runner, trial, None, request, (facts["result"], facts.get("index", [])))()
    report = answer.report
    return (report.made, report.overflowed) if isinstance(report, Called) else ([], [])


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
) -> Callable[[], Answer]:
    """Have the runner make the call; what is returned waits for its answer.

    Args:
        traced: a result and an element of it: by which steps it came to be is asked.
    """
    challenge, case = trial.challenge, trial.case
    values, names = trial.runner_arguments()
    specs, blobs = pack_arguments(values, names)
    earlier = others(values, request.rng(case.id, "others")) if case.calls > 1 else []
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
        "again": repeatable(trial.arguments),
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


def _choose(trial: Trial, rng: random.Random) -> list[list[int]] | None:
    """Choose the rows that the oracle is asked for: of a row-wise challenge with gigabytes of output, some.

    Returns:
        the flat element ranges of the output to fetch, or None for all of it.
    """
    tensors = [value for value in trial.arguments if isinstance(value, torch.Tensor)]
    if not trial.challenge.rowwise or max(tensor.numel() for tensor in tensors) * 4 < LARGE:
        return None
    trial.rows = len(tensors[0])
    width = tensors[0].numel() // trial.rows
    pieces = _pieces(trial.rows, width, rng)
    trial.picked = [row for start, stop in pieces for row in range(start, stop)]
    trial.oracle_arguments = _pick(trial, trial.arguments)
    return [[start * width, stop * width] for start, stop in pieces]


def _pick(trial: Trial, values: Values) -> Values:
    """The chosen rows of all tensors that have as many rows as the first."""
    return tuple(
        value[trial.picked] if isinstance(value, torch.Tensor) and len(value) == trial.rows else value
        for value in values
    )


def ask_oracle(trial: Trial, seed: int, device: str) -> None:
    """What is expected of a trial, gradients of upstream ones that are drawn by this seed included."""
    _ask_for_outputs(trial, seed, device)
    _ask_for_gradients(trial)


def _ask_for_outputs(trial: Trial, seed: int, device: str) -> None:
    """What is expected of the outputs, and the upstream gradients that they are handed."""
    challenge = trial.asked
    trial.expected = expect(challenge, trial.oracle_arguments, trial.kept)
    if not challenge.gradients:
        return
    if not trial.upstream:
        outputs = trial.expected
        if trial.rows:
            outputs = tuple(replace(out, exact=_tall(out.exact, trial.rows)) for out in outputs)
        trial.upstream = draw_upstream(trial.case, outputs, seed, device, len(challenge.writes))
    trial.of = reached(challenge, trial.oracle_arguments, _oracle_upstream(trial), trial.kept)


def _ask_for_gradients(trial: Trial) -> None:
    """What is expected of the gradients, behind the outputs."""
    challenge = trial.asked
    if challenge.gradients:
        trial.expected += expect_gradients(
            challenge, trial.oracle_arguments, _oracle_upstream(trial), trial.kept, trial.names, trial.of
        )


def _oracle_upstream(trial: Trial) -> Values:
    return _pick(trial, trial.upstream) if trial.rows else trial.upstream


def _tall(some: torch.Tensor, rows: int) -> torch.Tensor:
    """A tensor without memory in the shape that all rows have."""
    return torch.empty(rows, *some.shape[1:], dtype=some.dtype, device="meta")


def _pieces(rows: int, width: int, rng: random.Random) -> list[tuple[int, int]]:
    """Ranges of rows: both ends, where elements 2³¹ and 2³² lie, and some in between."""
    size = max(1, SLICE // width)
    starts = {0, rows - size, 2**31 // width - size // 2, 2**32 // width}
    starts |= {rng.randrange(rows - size) for _ in range(8)}
    return [(start, start + size) for start in sorted(starts) if 0 <= start <= rows - size]
