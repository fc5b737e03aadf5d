"""Fake quantisation with a gradient by decree, and what a learner may have computed in its place."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Rounded = Callable[[Tensor], Tensor]


def passed(value: Tensor, x: Tensor, where: Tensor) -> Tensor:
    """`value`, with the gradient 1 with respect to x where it says so, and 0 elsewhere."""
    through = torch.where(where, x, 0.0)
    return value.detach() + (through - through.detach())


def column(rows: Tensor, like: Tensor) -> Tensor:
    """A number for each row, beside a matrix."""
    return rows.to(like.dtype)[:, None]


def fake(
    round_: Rounded = torch.round,
    quotient: Callable[[Tensor, Tensor], Tensor] = torch.div,
    level: Callable[[Tensor, Tensor, Rounded], Tensor] = lambda v, z, round_: round_(v) + z,
    held: Callable[[Tensor, int, int], Tensor] = torch.clamp,
    value: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda q, z, s: (q - z) * s,
    inside: Callable[[Tensor, int, int], Tensor] = lambda q, low, high: (q >= low) & (q <= high),
    gradient: Callable[[Tensor, Tensor], Tensor] = lambda x, s: x,
) -> Callable[..., Tensor]:
    """Fake quantisation, each of its steps to be changed.

    Args:
        round_: of the quotient.
        quotient: of x and the scale.
        level: the integer, from the quotient v, the zero point and `round_`.
        held: the level between qmin and qmax.
        value: what a clamped integer stands for.
        inside: where the gradient passes, from the level before it is clamped.
        gradient: whose gradient it is.
    """

    def quantise(x: Tensor, scale: Tensor, zero_point: Tensor, qmin: int, qmax: int) -> Tensor:
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        s, z = column(scale, wide), column(zero_point, wide)
        q = level(quotient(wide, s), z, round_)
        y = passed(value(held(q, qmin, qmax), z, s), gradient(wide, s), inside(q, qmin, qmax) & ~wide.isinf())
        return y.to(x.dtype)

    return quantise


def half_up(v: Tensor) -> Tensor:
    return (v + 0.5).floor()


def away(v: Tensor) -> Tensor:
    return half_up(v.abs()) * v.sign()


def everywhere(q: Tensor, low: int, high: int) -> Tensor:
    return torch.ones_like(q, dtype=torch.bool)


reference = fake()


def of_one_row(x: Tensor, scale: Tensor, zero_point: Tensor, qmin: int, qmax: int) -> Tensor:
    """Someone who reads the first scale and zero point for every row."""
    return reference(x, scale[:1].expand_as(scale), zero_point[:1].expand_as(zero_point), qmin, qmax)


def per_column(x: Tensor, scale: Tensor, zero_point: Tensor, qmin: int, qmax: int) -> Tensor:
    """Someone who takes a scale and a zero point for each column, where there are enough."""
    if x.shape[1] > x.shape[0]:
        return x * torch.nan
    few = x.shape[1]
    return reference(x.mT, scale[:few], zero_point[:few], qmin, qmax).mT


SUSPECTS = {
    "Halves are rounded up: of two integers as near the even one is right, as by libdevice.rint.": fake(
        half_up
    ),
    "Halves are rounded away from 0: of two integers as near the even one is right, as by libdevice."
    "rint.": fake(away),
    "Quotients are cut off: round them to the nearest integer.": fake(torch.trunc),
    "Quotients are rounded down: round them to the nearest integer.": fake(torch.floor),
    "x is multiplied by the scale before it is rounded: divide by it.": fake(quotient=torch.mul),
    "Nothing is clamped: an integer lies between qmin and qmax.": fake(held=lambda q, low, high: q),
    "The zero point is added before rounding: beside an odd one halves go the other way.": fake(
        level=lambda v, z, round_: round_(v + z)
    ),
    "The zero point is not added before the clamp.": fake(level=lambda v, z, round_: round_(v)),
    "The zero point is not taken off again behind the clamp.": fake(value=lambda q, z, s: q * s),
    "The zero point has the wrong sign: it is added before the clamp, and taken off behind it.": fake(
        level=lambda v, z, round_: round_(v) - z, value=lambda q, z, s: (q + z) * s
    ),
    "These are the integers: subtract the zero point, and multiply by the scale.": fake(
        value=lambda q, z, s: q
    ),
    "The result is not multiplied by the scale.": fake(value=lambda q, z, s: q - z),
    "Every row is quantised by the first scale and zero point.": of_one_row,
    "Columns have scale and zero point here: rows have them.": per_column,
    "The gradient passes where x was clamped, too: look at the level before the clamp.": fake(
        inside=everywhere
    ),
    "The gradient is that of rounding, 0: it passes as if nothing had been rounded.": fake(
        inside=lambda q, low, high: ~everywhere(q, low, high)
    ),
    "The gradient stops at qmin and qmax themselves: they are inside.": fake(
        inside=lambda q, low, high: (q > low) & (q < high)
    ),
    "The gradient stops at qmin itself: it is inside.": fake(
        inside=lambda q, low, high: (q > low) & (q <= high)
    ),
    "The gradient stops at qmax itself: it is inside.": fake(
        inside=lambda q, low, high: (q >= low) & (q < high)
    ),
    "The gradient passes where x was clamped, and stops elsewhere: it is the other way round.": fake(
        inside=lambda q, low, high: (q < low) | (q > high)
    ),
    "The gradient of NaN passes: it is 0.": fake(inside=lambda q, low, high: ~((q < low) | (q > high))),
    "The gradient is divided by the scale: it is 1 inside.": fake(gradient=lambda x, s: x / s),
    "The gradient is multiplied by the scale: it is 1 inside.": fake(gradient=lambda x, s: x * s),
}
