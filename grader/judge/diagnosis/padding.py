"""Lanes past the end of a row that count: what came is right for rows that go on with what those hold."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from grader.judge.case.compare import Finding
from grader.judge.case.trial import Trial, largest
from grader.judge.diagnosis.evidence import Evidence, Speech
from grader.judge.diagnosis.explaining import explained, wanted_of
from grader.judge.diagnosis.fit import MOST
from grader.judge.diagnosis.flow import sums_exponentials, sums_weights_alone
from grader.judge.diagnosis.site import spelled
from grader.judge.diagnosis.source import accesses, called, calls, keyword, takes_maximum
from grader.judge.diagnosis.suspects import KINDS

LARGEST = 1 << 17  # elements of an argument, with its padding: the reference is tried a few times
TRIED = 6  # of the failed trials
NUMBERS = 3  # that these results have at least: some padding gives any one number
FEW = 2  # loads of one `other=`; which of more it is no value tells
BLOCKS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)


@dataclass(frozen=True)
class Padding:
    """Rows of `size` elements along what the case calls `label` that go on with `fill` up to `length`."""

    label: str
    size: int
    length: int
    fill: float

    def elements(self, value: Any) -> int:
        """How many `of` makes of it."""
        if not isinstance(value, torch.Tensor):
            return 0
        longer = (self.length if size == self.size else size for size in value.shape)
        return math.prod(longer)

    def of(self, value: Any) -> Any:
        """A tensor with each axis of that size made longer; anything else as it is."""
        if not isinstance(value, torch.Tensor) or not value.dtype.is_floating_point:
            return value
        for axis in (axis for axis, size in enumerate(value.shape) if size == self.size):
            shape = [*value.shape[:axis], self.length - self.size, *value.shape[axis + 1 :]]
            value = torch.cat([value, value.new_full(shape, self.fill)], dim=axis)
        return value


def padded(trial: Trial, finding: Finding, evidence: Evidence) -> Speech | None:
    """The rule of the diagnosis for masked loads whose `other=` is not neutral where it counts."""
    # What a tl.dot multiplies must be 0, and its products another number.
    fills = {} if called(evidence.source, {"dot"}) else _fills(evidence.source)
    alike = [t for t in evidence.failed if t.challenge is trial.challenge and t.answer and not t.rows]
    tried = [t for t in alike if t.findings[0].kind in KINDS and _small(t)][:TRIED]
    found = [(t, padding) for t in tried if fills and (padding := _padding(t, fills))]
    numbers = sum(want.exact.numel() for t, _ in found for want in wanted_of(t))
    labels = {(padding.label, padding.fill) for _, padding in found}
    if len(labels) != 1 or len(found) < MOST * len(tried) or numbers < NUMBERS:
        return None
    owner, padding = found[0]
    lines = fills[padding.fill]
    given = all(keyword(call, "other") for line in lines for _, call in accesses(evidence.source, line))
    by = "by the `other=` of" if given else "as `other=` says, or as there is none, on"
    by += " one of" * (len(lines) > FEW)
    return (
        f"What comes out is right for a longer row that ends in {padding.fill:g}: lanes past the end hold "
        f"that, {by} {spelled(lines)}, and count. It must be neutral: {_neutral(evidence.source)}.",
        f"other= of the masked load: {spelled(lines)}",
        owner,
    )


def _neutral(source: str) -> str:
    """For what the source reduces."""
    weighs, adds = sums_exponentials(source), called(source, {"sum"}) and not sums_weights_alone(source)
    least = ["a maximum"] * takes_maximum(source) + ["a sum of exponentials"] * weighs
    found = [f"-inf for {' and '.join(least)}"] * bool(least)
    found += [f"0 for {'another' if weighs else 'a'} sum"] * (adds or not found)
    return ", ".join(found)


def _small(trial: Trial) -> bool:
    # Where nothing but a number is returned, there is no row to be longer.
    return (
        trial.challenge.chance is None and largest(trial.arguments) <= LARGEST and bool([*wanted_of(trial)])
    )


def _fills(source: str) -> dict[float, list[int]]:
    """What masked loads give to lanes without an element, where that is a plain number, each with the lines
    of the loads; without `other=` 0, as in the interpreter.
    """
    found = dict[float, list[int]]()
    for name, call in calls(source):
        if name == "load" and keyword(call, "mask"):
            try:
                fill = float(ast.literal_eval(keyword(call, "other") or ast.Constant(0)))
            except (ValueError, TypeError):
                continue
            found.setdefault(fill, []).append(call.lineno)
    return {fill: sorted(lines) for fill, lines in found.items()}


def _padding(trial: Trial, fills: dict[float, list[int]]) -> Padding | None:
    """The shortest padding that explains what is wrong with a trial."""
    sizes = {label: size for label, size in trial.case.sizes.items() if type(size) is int and size > 0}
    every = (
        Padding(label, size, length, fill)
        for label, size in sizes.items()
        for length in _lengths(size)
        for fill in fills
    )
    # Several axes of one size grow all at once.
    small = (one for one in every if max(map(one.elements, trial.arguments)) <= LARGEST)
    return next((one for one in small if _explains(one, trial)), None)


def _explains(padding: Padding, trial: Trial) -> bool:
    """Whether rows that go on so give what came."""
    try:
        return explained(_longer(trial, padding), trial, backward=False) is not None
    except Exception:  # a reference need not take other sizes than its cases have
        return False


def _lengths(size: int) -> Iterator[int]:
    """Whole blocks that hold so many elements, from the shortest on."""
    ends = {1 << (size - 1).bit_length(), *(-(-size // block) * block for block in BLOCKS)}
    yield from sorted(ends - {size})


def _longer(trial: Trial, padding: Padding) -> Callable[..., Any]:
    """The reference on rows that go on so; of what it gives, as much as was asked for."""

    def wrong(*arguments: Any) -> Any:
        given = trial.challenge.reference(*map(padding.of, arguments))
        several = isinstance(given, tuple | list)
        cut = [
            out[tuple(map(slice, want.shape))] if isinstance(out, torch.Tensor) else out
            for out, want in zip(given if several else [given], wanted_of(trial), strict=False)
        ]
        return tuple(cut) if several else cut[0]

    return wrong
