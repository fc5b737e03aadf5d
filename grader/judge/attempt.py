"""One case tried on the learner's function: inputs drawn, call made, result held against the oracle."""

from __future__ import annotations

import random

import torch

from grader.challenge import Case, Challenge
from grader.judge import reports
from grader.judge.findings import find, form
from grader.judge.link import LARGE, Answer, Runner, pack_arguments, read_answer
from grader.judge.oracle import Values, asked, expect, expect_gradients
from grader.judge.trial import Trial, draw, draw_upstream

SLICE = 4096  # elements of each piece that is fetched of an output too large to fetch whole


def attempt(
    runner: Runner,
    challenge: Challenge,
    case: Case,
    names: list[str],
    *,
    seed: int,
    device: str,
    timeout: float,
    arguments: Values | None = None,
) -> Trial:
    """Try one case.

    Args:
        names: what the learner calls the arguments, for messages.
        seed: of the grading.
        timeout: seconds for the call.
        arguments: instead of those that the case draws.

    Raises:
        RunnerLost: the runner crashed or hung; the trial is lost with it.
    """
    arguments = draw(challenge, case, seed, device) if arguments is None else arguments
    trial = Trial(challenge, case, arguments, names[: len(arguments)])
    slices = _expect(trial, seed, device)
    trial.answer = _ask(runner, trial, slices, seed, timeout)
    if challenge.chance and not form(trial):
        outputs = [out.to(device) for out in trial.answer.outputs]
        trial.given = (challenge.chance.keep(*arguments, *outputs),)
        _expect(trial, seed, device)
    trial.findings = find(trial)
    return trial


def _ask(runner: Runner, trial: Trial, slices: list[list[int]] | None, seed: int, timeout: float) -> Answer:
    challenge, case = trial.challenge, trial.case
    specs, blobs = pack_arguments(*trial.handed())
    request = {
        "do": "call",
        "entry": challenge.entry,
        "probe": challenge.probe,
        "arguments": specs[: len(trial.arguments)],
        "upstream": specs[len(trial.arguments) :],
        "of": asked(challenge, trial.arguments),
        "calls": case.calls,
        "slices": slices,
        "seed": random.Random(f"{seed}/{case.id}/order").getrandbits(32),
    }
    header, data = runner.ask(request, reports.CALLED, blobs, timeout=timeout)
    return read_answer(header, data, sum(stop - start for start, stop in slices) if slices else None)


def _expect(trial: Trial, seed: int, device: str) -> list[list[int]] | None:
    """Ask the oracle; of a row-wise challenge with gigabytes of output, only for some rows.

    Returns:
        the flat element ranges of the output to fetch, or None for all of it.
    """
    challenge, arguments = trial.challenge, trial.arguments
    if challenge.chance and not trial.given:
        shapes = [value for value in arguments if isinstance(value, torch.Tensor)][:1]
        trial.given = tuple(torch.ones_like(shape, dtype=torch.bool) for shape in shapes)
        trial.expected = expect(challenge, arguments, trial.given)
    tensors = [value for value in arguments if isinstance(value, torch.Tensor)]
    if challenge.rowwise and max(tensor.numel() for tensor in tensors) * 4 >= LARGE:
        return _expect_rows(trial, tensors)
    trial.expected = expect(challenge, arguments, trial.given)
    if challenge.gradients:
        trial.upstream = trial.upstream or draw_upstream(trial.case, trial.expected, seed, device)
        trial.expected += expect_gradients(challenge, arguments, trial.upstream, trial.given, trial.names)
    return None


def _expect_rows(trial: Trial, tensors: list[torch.Tensor]) -> list[list[int]]:
    trial.rows = len(tensors[0])
    pieces = _pieces(trial.rows, tensors[0].numel() // trial.rows)
    few = tuple(
        torch.cat([value[start:stop] for start, stop in pieces])
        if isinstance(value, torch.Tensor) and len(value) == trial.rows
        else value
        for value in trial.arguments
    )
    trial.expected = expect(trial.challenge, few)
    width = trial.expected[0].exact[0].numel()
    return [[start * width, stop * width] for start, stop in pieces]


def _pieces(rows: int, width: int) -> list[tuple[int, int]]:
    """Ranges of rows: both ends, where element 2³¹ lies, and some in between."""
    size = max(1, SLICE // width)
    starts = {0, rows - size, 2**31 // width - size // 2} | {random.randrange(rows - size) for _ in range(8)}
    return [(start, start + size) for start in sorted(starts) if 0 <= start <= rows - size]
