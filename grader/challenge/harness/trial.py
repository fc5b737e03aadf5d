"""One case as it was tried: what was drawn, what is expected, what came back, and what is wrong with it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from grader.challenge import Case, Challenge
from grader.challenge.case import SEVERAL
from grader.challenge.harness.argument_serialization import LARGE, Answer
from grader.challenge.harness.compare import Expected, Finding
from grader.challenge.harness.draw import Draw
from grader.challenge.harness.oracle import Values, before_last, expect, expect_gradients, in_calls, reached
from grader.kernel.traced_step import Step
from grader.randomness import rng
from grader.request import Request
from grader.runner_answers import Called, TensorOutput
from grader.tensor_storage import raw

SLICE = 4096  # elements of each piece that is fetched of an output too large to fetch whole
LARGEST = 1 << 17  # elements of a tensor: larger cases take their time
RECORDED = 1 << 22  # and much larger ones have no room for a second time


@dataclass
class Trial:
    """What one case showed.

    Attributes:
        arguments: as drawn.
        names: what the learner calls them, for messages.
        results: what the learner calls the outputs, where they have names.
        upstream: for a differentiable challenge, the gradient that each output is handed, or None.
        of: positions of the arguments whose gradients are asked for: those that the upstream ones reach.
        kept: of a random function, the mask that the reference gets behind the arguments; else empty.
        expected: an `Expected` for each output tensor, plain values for others, then the gradients.
        rows: length of the first dimension when the oracle was asked only for some of it, else 0.
        picked: the rows that it was asked for.
        slices: the flat ranges of elements that these are of each output; None where all of it is fetched.
        oracle_arguments: the arguments that it was asked with: those rows of them.
        answer: the runner's, None when it was lost.
        findings: what is wrong, the most telling first; empty when the case passes.
        made: by which steps of kernels what is wrong first came to be NaN or Inf, the last one first.
        repeated: the same launches on other contents, where that was tried.
        redrawn: its own arguments are such contents, and not the first that the case draws.
        limit: what is wrong with it fails nothing.
    """

    challenge: Challenge
    case: Case
    arguments: Values
    names: list[str]
    results: tuple[str, ...] = ()
    upstream: Values = ()
    of: list[int] = field(default_factory=list)
    kept: Values = ()
    expected: Values = ()
    rows: int = 0
    picked: list[int] = field(default_factory=list)
    slices: list[list[int]] | None = None
    oracle_arguments: Values = ()
    answer: Answer | None = None
    findings: list[Finding] = field(default_factory=list)
    made: list[Step] = field(default_factory=list)
    repeated: Trial | None = None
    redrawn: bool = False
    limit: bool = False

    @property
    def passed(self) -> bool:
        return not self.findings

    @property
    def called(self) -> Called | None:
        """What the runner observed of the call; None where it raised, or nothing came back."""
        report = self.answer.report if self.answer else None
        return report if isinstance(report, Called) else None

    @property
    def outputs(self) -> list[torch.Tensor]:
        """The tensors that came back, on the CPU."""
        return self.answer.outputs if self.answer else []

    @property
    def wanted(self) -> list[Expected]:
        """What is expected of each tensor that comes back."""
        return [want for want in self.expected if isinstance(want, Expected)]

    @property
    def unevaluated(self) -> bool:
        """Whether a kernel holds what only a GPU computes: that says nothing of the file."""
        return any(finding.facts.get("kind") == "unevaluated" for finding in self.findings[:1])

    def in_calls(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function as this case calls the entry: one that writes in place goes on from where it was."""
        return in_calls(function, self.challenge.writes, self.oracle_arguments, self.case.calls)

    @property
    def last_arguments(self) -> Values:
        """What the oracle's last call is given: what is written in place is as the call before left it."""
        given = self.oracle_arguments
        reference, writes = self.challenge.reference, self.challenge.writes
        return before_last(reference, writes, given, self.case.calls, given)

    @property
    def asked(self) -> Challenge:
        """The challenge, with the reference called, and gradients asked for, as this case does."""
        gradients = self.challenge.gradients
        if gradients and self.case.alone is not None:
            gradients = replace(gradients, of=(self.case.alone,))
        reference = self.in_calls(self.challenge.reference)
        return replace(self.challenge, reference=reference, gradients=gradients)

    @property
    def asked_for(self) -> int:
        """How many results there are, arguments that are written included; behind them come gradients."""
        return sum(not getattr(want, "label", "") for want in self.expected)

    def stored_everywhere(self, number: int) -> bool:
        """Whether kernels are known to have stored every byte of the memory that a result lies in."""
        if not self.called or self.called.holes is None:
            return False
        out = self.called.outputs[number]
        return isinstance(out, TensorOutput) and bool(out.memory) and out.memory not in self.called.holes

    def on_cpu(self) -> Trial:
        """The same where an evaluator is to answer: equal tensors on the CPU, laid out alike."""
        storages: dict[int, torch.Tensor] = {}
        moved = [_on_cpu(value, storages) for value in (*self.arguments, *self.upstream, *self.kept)]
        arguments, rest = tuple(moved[: len(self.arguments)]), moved[len(self.arguments) :]
        expected = [want.on_cpu() if isinstance(want, Expected) else want for want in self.expected]
        return replace(
            self,
            arguments=arguments,
            oracle_arguments=arguments,
            upstream=tuple(rest[: len(self.upstream)]),
            kept=tuple(rest[len(self.upstream) :]),
            expected=tuple(expected),
        )

    def runner_arguments(self) -> tuple[Values, list[str]]:
        """All that the runner is handed, with names: the arguments, then the upstream gradients."""
        return (*self.arguments, *self.upstream), self.names + ["an upstream gradient"] * len(self.upstream)


def _on_cpu(value: Any, storages: dict[int, torch.Tensor]) -> Any:
    """A tensor, over a storage on the CPU that it shares with whom it shared the one before."""
    if not isinstance(value, torch.Tensor):
        return value
    storage = value.untyped_storage()
    whole = storages.setdefault(storage.data_ptr(), raw(storage).cpu()).untyped_storage()
    view = torch.empty(0, dtype=value.dtype)
    return view.set_(whole, value.storage_offset(), value.shape, value.stride())


def repeatable(arguments: Values) -> bool:
    """Whether the call's launches may be asked for once more: not those of the largest cases."""
    return 0 < largest(arguments) <= RECORDED


def largest(arguments: Values) -> int:
    """Elements of the largest tensor among them."""
    return max((v.numel() for v in arguments if isinstance(v, torch.Tensor)), default=0)


def draw(challenge: Challenge, case: Case, seed: int, device: str) -> Values:
    """The arguments of a case: the same for the same seed, whichever other cases run."""
    return tuple(challenge.inputs(case, Draw(case, rng(seed, case.id).getrandbits(48), device)))


def _first(case: Case, output: Any, others: str | None) -> str | None:
    """The layout of the first output's gradient."""
    unlike = "transposed" if len(output.shape) > 1 else "strided"
    return unlike if case.upstream == "unlike" else others


def draw_upstream(case: Case, outputs: Values, seed: int, device: str, written: int = 0) -> Values:
    """A gradient for each floating output, laid out as the case says, from their shapes and dtypes.

    Args:
        written: so many of them, the first ones, are arguments that were written: they get none.
    """
    drawer = Draw(case, rng(seed, case.id, "upstream").getrandbits(48), device)
    others = "contiguous" if case.upstream in SEVERAL else case.upstream
    drawn = [
        drawer(
            *out.shape, dtype=out.dtype, layout=others if i else _first(case, out, others), values="normal"
        )
        if isinstance(out, torch.Tensor | Expected) and out.dtype.is_floating_point
        else None
        for i, out in enumerate(outputs[written:])
    ]
    alone = {"first": 0, "last": len(drawn) - 1}.get(case.upstream)
    drawn = [grad if alone in (None, i) else None for i, grad in enumerate(drawn)]
    return (*[None] * written, *drawn)


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
