"""One input that a kernel is tried on: its sizes, and how its tensors are drawn."""

from __future__ import annotations

import copy
import difflib
import functools
import re
from collections.abc import Iterable
from random import Random
from typing import Any

import torch

from grader.pass_requirements import DEMANDS

SHORT = {
    torch.float32: "fp32",
    torch.float16: "fp16",
    torch.bfloat16: "bf16",
    torch.float64: "fp64",
    torch.int32: "int32",
    torch.int64: "int64",
    torch.int16: "int16",
    torch.int8: "int8",
    torch.uint8: "uint8",
    torch.bool: "bool",
    torch.float8_e4m3fn: "fp8_e4m3",
    torch.float8_e5m2: "fp8_e5m2",
}
EIGHT_BIT_FLOATS = (torch.float8_e4m3fn, torch.float8_e5m2)
# What challenge/harness/draw.py knows how to draw, and what a screen says of it.
LAYOUTS = {
    "contiguous": "packed, as torch makes it",
    "offset": "packed, from 3 elements behind a 16-byte boundary on",
    "sliced": "like wide[:, :n]: rows lie 5 elements further apart than they are long; a vector like x[3:]",
    "padded": "like wide[:, :n]: rows lie 8 elements further apart than they are long",
    "far": "like wide[:, :n]: rows lie a million elements further apart than they are long",
    "transposed": "like x.mT: columns lie close together, not rows; a vector like x[::2]",
    "columns": "like wide[:, :m].mT: columns lie close together, 8 elements further apart than they are long",
    "strided": "like x[..., ::2]: every second element",
    "expanded": "the same memory all along the first axis: its stride is 0",
    "broadcast": "one column in memory, all along the last axis: its stride is 0",
    "scalar": "one element in memory: every stride is 0",
}
VALUES = {
    "normal": "normal numbers",
    "heavy": "some numbers many times as large as others",
    "large": "numbers of some 10,000 in size",
    "constant": "the same number everywhere",
    "ties": "the largest number of a row stands there several times",
    "spike": "the last number of a row is 50, far above the others",
    "integers": "small whole numbers",
    "bytes": "whole numbers from 0 to 255",
    "ramp": "0, 1, 2, … up to 2047, and again",
    "low": "every number is near -300, of which exp() is 0 in fp32",
    "rising": "rows are sorted, the largest number last",
    "negative": "no number is above -1",
    "minus_inf": "some numbers are -inf, and the last row is nothing else",
    "some_minus_inf": "some numbers are -inf",
    "inf": "one number is Inf",
    "nan": "one number is NaN",
    "zeros": "0 everywhere",
    "signed_zeros": "every number is 0, -0 or -1",
}
# Of several gradients that come in; by default each lies as the others do.
SEVERAL = {
    "first": "a gradient comes in for the first output alone",
    "last": "a gradient comes in for the last output alone",
    "unlike": "the gradient that comes in for the first output is transposed (a vector: strided), no other",
}
HUGE_UPSTREAM = "contiguous", "transposed", "strided", "far"  # that a walk knows how to lay out
KNOWN = {"layout": LAYOUTS, "values": VALUES, "upstream": (*LAYOUTS, *SEVERAL)}
# What every case has.
WORDS = ("dtype", "layout", "values", "exact", "calls", "gpu", "huge", "upstream", "alone", "demand")
TAKEN = ("sizes", "id", "group", "get")  # and what a size of that name would hide behind
NOTHING = object()
NONFINITE = "minus_inf", "some_minus_inf", "inf", "nan"  # of VALUES


class Own(str):
    """A layout or kind of values that a day's `inputs` makes by itself: `BSHD = Own("bshd")`."""

    __slots__ = ()


class Drawn(int):
    """A size that each grading draws anew, its ends included; until then it is the lowest.

    Attributes:
        high: the largest.
    """

    high: int


def between(low: int, high: int) -> int:
    """A size for a `Case` that each grading draws anew, by its seed, so that no list of sizes can be known.

    Raises:
        ValueError: the first is not below the second.
    """
    if not low < high:
        raise ValueError(f"between({low}, {high}): the first must be below the second")
    size = Drawn(low)
    size.high = high
    return size


class Case:
    """One input that the kernel is tried on.

    Sizes and scalars are free keywords and read back as attributes: `Case(rows=4, cols=8).rows == 4`. One
    that not every case has is read by `case.get("scale", 1.0)`, or looked for by `"scale" in case`. The last
    word of a size may say what it holds: `q_layout` must name a layout, `k_values` a kind of values.

    Args:
        dtype: of the tensors drawn for it.
        layout: how they lie in memory, one of LAYOUTS.
        values: what stands in them, one of VALUES.
        exact: compare bit for bit; for values whose result rounds nowhere, such as small integers.
        calls: 2 has the entry called on other contents first, and looks at its last result: that finds stale
            accumulators, and what is remembered. An entry that writes in place is then called so often on
            what it left there itself.
        gpu: only tried on a GPU (too large to be evaluated).
        huge: too large for a GPU as well: the addresses of a few programs are looked at, evaluated, and no
            value.
        upstream: layout of the gradients that a differentiable day is handed, or one of SEVERAL:
            "first" gives one to the first output alone, "unlike" another layout to that one.
        alone: on a differentiable day, the position of the only argument whose gradient is asked for.
        demand: what kind of demand it makes, one of DEMANDS, where its values do not tell.

    Raises:
        ValueError: there is no such dtype, layout, kind of values, upstream or demand.
        TypeError: a size is called nearly, or just, as something that every case has.
    """

    def __init__(
        self,
        *,
        dtype: torch.dtype = torch.float32,
        layout: str = "contiguous",
        values: str = "normal",
        exact: bool = False,
        calls: int = 1,
        gpu: bool = False,
        huge: bool = False,
        upstream: str = "contiguous",
        alone: int | None = None,
        demand: str = "",
        **sizes: Any,
    ) -> None:
        if demand and demand not in DEMANDS:
            raise ValueError(f"a case: no demand {demand!r}{closest(demand, DEMANDS)}")
        if dtype not in SHORT:
            raise ValueError(f"a case: no dtype {dtype!r}. There are {', '.join(map(str, SHORT))}.")
        self.dtype, self.layout, self.values = dtype, layout, values
        self.exact, self.calls, self.upstream, self.alone = exact, calls, upstream, alone
        self.gpu, self.huge = gpu or huge, huge
        self.sizes = sizes
        nonfinite = {values, *(w for n, w in sizes.items() if n.endswith("_values"))} & {*NONFINITE}
        self.demand = demand or ("extreme_inputs" if nonfinite else "values")
        for name in sizes:
            self._check_name(name)
        if huge and upstream not in HUGE_UPSTREAM:
            raise ValueError(f"{self!r}: a huge case has an upstream of {', '.join(HUGE_UPSTREAM)}")
        for name, word in {"layout": layout, "values": values, "upstream": upstream, **sizes}.items():
            self._check_word(name, word)

    def get(self, name: str, default: Any = None) -> Any:
        """A size that not every case has. Every look at a size goes through here."""
        return vars(self).get("sizes", {}).get(name, default)

    def __contains__(self, name: str) -> bool:
        return self.get(name, NOTHING) is not NOTHING

    def __getattr__(self, name: str) -> Any:
        size = self.get(name, NOTHING)
        if size is NOTHING:
            raise AttributeError(f"this case has no {name}: {vars(self).get('sizes')}")
        return size

    @property
    def id(self) -> str:
        """`rows=1823-cols=781-fp32-sliced`: unique among a day's cases, and typed after `track grade -k`."""
        parts = [f"{name}={_spell(value)}" for name, value in self.sizes.items()]
        parts.append(SHORT[self.dtype])
        parts += [
            word for word, usual in ((self.layout, "contiguous"), (self.values, "normal")) if word != usual
        ]
        parts += [f"{self.calls}_calls"] if self.calls > 1 else []
        parts += [f"upstream_{self.upstream}"] if self.upstream != "contiguous" else []
        parts += [f"alone_{self.alone}"] if self.alone is not None else []
        return "-".join(parts)

    def drawn(self, random: Random, named: str = "") -> Case:
        """The same case with its sizes `between` two others drawn.

        Args:
            named: an id, or a part of one, whose sizes are taken where they lie within.
        """
        same = copy.copy(self)
        same.sizes = {
            name: _drawn(size, name, random, named) if isinstance(size, Drawn) else size
            for name, size in self.sizes.items()
        }
        return same

    @property
    def group(self) -> str:
        """`correct` for plain inputs, `edges` for unusual layouts and values."""
        plain = ("contiguous", "normal", 1, "contiguous", None)
        mine = (self.layout, self.values, self.calls, self.upstream, self.alone)
        return "correct" if mine == plain else "edges"

    def __repr__(self) -> str:
        return f"Case({self.id})"

    def _check_name(self, name: str) -> None:
        last = name.rpartition("_")[2]  # q_layuot is as wrong as layuot
        if name in TAKEN or _nearly_a_word(last):
            raise TypeError(f"{self!r}: no size may be called {name!r}{closest(last, WORDS)}")

    def _check_word(self, name: str, word: Any) -> None:
        kind = name.rpartition("_")[2]
        if kind in KNOWN and word not in KNOWN[kind] and not isinstance(word, Own):
            spelt = closest(word, KNOWN[kind])
            raise ValueError(f"{self!r}: no {name} {word!r}{spelt} There are {', '.join(KNOWN[kind])}.")


def _drawn(size: Drawn, name: str, random: Random, named: str) -> int:
    drawn = random.randint(size, size.high)
    told = re.search(rf"(?<!\w){re.escape(name)}=(\d+)", named)
    return int(told[1]) if told and size <= int(told[1]) <= size.high else drawn


@functools.cache
def _nearly_a_word(name: str) -> bool:
    """Alike enough for two letters that changed places, and not for cols and calls."""
    return name not in WORDS and bool(difflib.get_close_matches(name, WORDS, 1, cutoff=0.75))


def readable(tensor: torch.Tensor) -> torch.Tensor:
    """8-bit floats in fp32, for torch computes next to nothing with them; others as they are."""
    return tensor.float() if tensor.dtype in EIGHT_BIT_FLOATS else tensor


def closest(word: Any, known: Iterable[str]) -> str:
    """`; did you mean 'sliced'?`, or a full stop where nothing is like it."""
    close = difflib.get_close_matches(str(word), list(known), 1)
    return f"; did you mean {close[0]!r}?" if close else "."


def _spell(value: Any) -> Any:
    return SHORT[value] if isinstance(value, torch.dtype) else value
