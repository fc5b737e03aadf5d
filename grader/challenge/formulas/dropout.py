"""Dropout, and what holds of a mask that seed and element number alone decide.

Source: Srivastava et al., Dropout (2014), in its inverted form: what is kept is divided by 1 - p.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from grader.challenge import Case, Relation
from grader.challenge.formulas.draw_one_input import shape_of

if TYPE_CHECKING:
    from grader.challenge.harness.draw import Draw

Outputs = tuple[Tensor, ...]
Mask = Callable[[Outputs], Tensor]  # which elements a call kept, from its outputs: bool, in row-major order


def inputs(case: Case, draw: Draw) -> tuple[Tensor, float, int]:
    """x of the case's shape, the probability of dropping an element, and a seed of 31 bits.

    No element is 0, which one in 12 million normal numbers is: whether it was kept cannot be seen. Where all
    are to be, a mask says so.
    """
    x = draw(*shape_of(case, "batch", "rows", "cols", "n"))
    if case.values == "zeros":
        return x, case.p, case.get("seed", draw.integer(0, 2**31))
    once = x[tuple(slice(None if stride else 1) for stride in x.stride())]  # of what is expanded
    once.masked_fill_(once == 0, 1.0)
    return x, case.p, case.get("seed", draw.integer(0, 2**31))


def dropout(x: Tensor, p: float, seed: int, keep: Tensor) -> Tensor:
    """x / (1 - p) where `keep` says so, and 0 elsewhere."""
    return torch.where(keep, x, 0) / (1 - p or 1)


def related(
    mask: Mask,
    case: Case,
    other: Callable[..., tuple[Any, ...]],
    holds: Callable[[Tensor, Tensor], bool],
    name: str,
    says: str,
) -> Relation:
    """A relation between the masks of two calls."""
    return Relation(name, case, other, lambda one, two: holds(mask(one), mask(two)), says)


def same(one: Tensor, two: Tensor) -> bool:
    """The masks begin alike."""
    length = min(len(one), len(two))
    return torch.equal(one[:length], two[:length])


def other(one: Tensor, two: Tensor) -> bool:
    """The masks differ."""
    return not same(one, two)


def unshifted(one: Tensor, two: Tensor) -> bool:
    """Neither mask is the other, moved by a power of two up to 8192, the widest of usual blocks."""
    moved = [(a[2**i :], b[: len(b) - 2**i]) for i in range(14) for a, b in ((one, two), (two, one))]
    return not any(torch.equal(a, b) for a, b in moved)


def next_seed(mask: Mask) -> Relation:
    """Seeds that follow one another give masks that have nothing to do with one another."""
    return related(
        mask,
        Case(n=20000, p=0.5),
        other=lambda x, p, seed: (x, p, seed + 1),
        holds=unshifted,
        name="the next seed",
        says="The mask of seed + 1 is that of seed, shifted: what is added to the seed, such as the "
        "program's number, is reached from another seed too. Put it into the offset.",
    )


def finer(mask: Mask) -> Relation:
    """A rate of 0.1015 drops other elements than 0.1: of 20,000 about 30 more."""
    return related(
        mask,
        Case(n=20000, p=0.1),
        other=lambda x, p, seed: (x, p + 0.0015, seed),
        holds=other,
        name="a rate a little higher",
        says="Rates of 0.1 and 0.1015 drop the same elements: the rate is rounded, or compared with a random "
        "number of few bits. Compare tl.rand itself with p.",
    )


def longer(mask: Mask) -> Relation:
    """The mask of a longer x begins like that of x."""
    return related(
        mask,
        Case(n=700, p=0.5),
        other=lambda x, p, seed: (torch.cat([x, x]), p, seed),
        holds=same,
        name="a longer x",
        says="A longer x begins with another mask: the random numbers depend on the length, or on a "
        "BLOCK chosen by it. The offset of element i must be made from i alone.",
    )


def other_numbers(mask: Mask) -> Relation:
    """The mask is the same whatever x holds."""
    return related(
        mask,
        Case(n=1200, p=0.5),
        other=lambda x, p, seed: (x.flip(0), p, seed),
        holds=same,
        name="other numbers in x",
        says="Other numbers in x get another mask: seed and an element's number alone decide, and not what x "
        "holds.",
    )


def another_dtype(mask: Mask) -> Relation:
    """The mask of x in fp16 is that of x in fp32."""
    return related(
        mask,
        Case(n=1200, p=0.5),
        other=lambda x, p, seed: (x.half(), p, seed),
        holds=same,
        name="another dtype",
        says="fp16 gets another mask than fp32: the random numbers depend on the dtype, or on a BLOCK "
        "chosen by it.",
    )
