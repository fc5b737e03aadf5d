"""What is right for a trial: the oracle asked, for all of it or for some rows of gigabytes."""

from __future__ import annotations

import random
from dataclasses import replace

import torch

from grader.challenge.cases.oracle import Values, expect, expect_gradients, reached
from grader.challenge.cases.packing import LARGE
from grader.challenge.cases.trial import Trial, draw_upstream
from grader.request import Request

SLICE = 4096  # elements of each piece that is fetched of an output too large to fetch whole


def choose(trial: Trial, rng: random.Random) -> None:
    """Of a row-wise challenge with gigabytes of output choose some rows for the oracle to be asked for."""
    tensors = [value for value in trial.arguments if isinstance(value, torch.Tensor)]
    if not trial.challenge.rowwise or max(tensor.numel() for tensor in tensors) * 4 < LARGE:
        return
    trial.rows = len(tensors[0])
    width = tensors[0].numel() // trial.rows
    pieces = _pieces(trial.rows, width, rng)
    trial.picked = [row for start, stop in pieces for row in range(start, stop)]
    trial.oracle_arguments = _pick(trial, trial.arguments)
    trial.slices = [[start * width, stop * width] for start, stop in pieces]


def _pick(trial: Trial, values: Values) -> Values:
    """The chosen rows of all tensors that have as many rows as the first."""
    return tuple(
        value[trial.picked] if isinstance(value, torch.Tensor) and len(value) == trial.rows else value
        for value in values
    )


def ask_oracle(trial: Trial, request: Request, seed: int | None = None) -> None:
    """What is expected of a trial: of its outputs, and behind them of the gradients that these are handed.

    Args:
        seed: that draws the latter, unless the trial has them; the request's when None.
    """
    challenge = trial.asked
    trial.expected = expect(challenge, trial.oracle_arguments, trial.kept)
    if not challenge.gradients:
        return
    if not trial.upstream:
        outputs = trial.expected
        if trial.rows:
            outputs = tuple(replace(out, exact=_tall(out.exact, trial.rows)) for out in outputs)
        seed, written = request.seed if seed is None else seed, len(challenge.writes)
        trial.upstream = draw_upstream(trial.case, outputs, seed, request.torch_device, written)
    upstream = _pick(trial, trial.upstream) if trial.rows else trial.upstream
    trial.of = reached(challenge, trial.oracle_arguments, upstream, trial.kept)
    trial.expected += expect_gradients(
        challenge, trial.oracle_arguments, upstream, trial.kept, trial.names, trial.of
    )


def _tall(some: torch.Tensor, rows: int) -> torch.Tensor:
    """A tensor without memory in the shape that all rows have."""
    return torch.empty(rows, *some.shape[1:], dtype=some.dtype, device="meta")


def _pieces(rows: int, width: int, rng: random.Random) -> list[tuple[int, int]]:
    """Ranges of rows: both ends, where elements 2³¹ and 2³² lie, and some in between."""
    size = max(1, SLICE // width)
    starts = {0, rows - size, 2**31 // width - size // 2, 2**32 // width}
    starts |= {rng.randrange(rows - size) for _ in range(8)}
    return [(start, start + size) for start in sorted(starts) if 0 <= start <= rows - size]
