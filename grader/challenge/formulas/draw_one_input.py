"""Drawing one of several inputs, which may be unlike the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from grader.challenge.case import Case

if TYPE_CHECKING:
    from grader.challenge.harness.draw import Draw


def tensor(case: Case, draw: Draw, which: str, *shape: int) -> Tensor:
    """A tensor of this shape; `x_dtype`, `x_layout` and `x_values` say how x differs from the case."""
    dtype, layout, values = (case.get(f"{which}_{word}") for word in ("dtype", "layout", "values"))
    return draw(*shape, dtype=dtype, layout=layout, values=values)


def vector(case: Case, draw: Draw, length: int, values: str | None = None) -> Tensor:
    """A vector beside a matrix: contiguous, whatever the matrix is, and off its boundary where that is."""
    return draw(length, layout="offset" if case.layout == "offset" else "contiguous", values=values)


def holding(draw: Draw, values: Tensor) -> Tensor:
    """These values as a contiguous fp32 tensor among guard words, as all that is drawn."""
    return draw(*values.shape, dtype=torch.float32, layout="contiguous").copy_(values)


def shape_of(case: Case, *sides: str) -> list[int]:
    """The sides that the case has, in this order: none of them is the shape of a single number."""
    return [case.get(side) for side in sides if side in case]


def counts(words: str) -> list[int]:
    """The numbers that `3+0+2x7` spells, so that a case can be named: 3, 0, 7, 7."""
    parts = [part.split("x") for part in words.split("+")]
    return [int(part[-1]) for part in parts for _ in range(int(part[0]) if len(part) > 1 else 1)]
