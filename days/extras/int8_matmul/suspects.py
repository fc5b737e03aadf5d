"""What a learner may have computed in the place of a scaled int8 product."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from grader.challenge.formulas.block_bounds import BLOCKS, last_block, whole_blocks
from grader.challenge.formulas.stride_suspects import along_rows, stretched

Zeros = Callable[[Tensor, Tensor, Tensor], Tensor]


def taken_out(a: Tensor, b: Tensor, zero: Tensor) -> Tensor:
    """What a zero point for each row takes from the sums, fp64 [m, n]."""
    return zero[:, None] * b.sum(dim=0)


def product(
    zeros: Zeros = taken_out, left=lambda a: a, right=lambda b: b, inner=slice(None), sums=lambda c: c
):
    """Sums of `left` a times `right` b along `inner`, less `zeros`, through `sums`; then the scales."""

    def wrong(a, b, a_scale, b_scale, a_zero) -> Tensor:
        wide_a, wide_b = left(a.double()), right(b.double())
        cut = inner(a.shape[1]) if callable(inner) else inner
        wide_a, wide_b = wide_a[:, cut], wide_b[cut]
        acc = wide_a @ wide_b
        if a_zero is not None:
            acc = acc - zeros(wide_a, wide_b, a_zero.double())
        return sums(acc) * a_scale.double()[:, None] * b_scale.double()

    return wrong


def in_fp32(a, b, a_scale, b_scale, a_zero) -> Tensor:
    """Exact sums of 128 products, added up in fp32."""
    acc, wide = torch.zeros(len(a), b.shape[1], device=a.device), (a.double(), b.double())
    for start in range(0, a.shape[1], 128):
        acc += (wide[0][:, start : start + 128] @ wide[1][start : start + 128]).float()
    zeros = 0.0 if a_zero is None else taken_out(*wide, a_zero.double())
    return (acc.double() - zeros) * a_scale.double()[:, None] * b_scale.double()


def swapped(a, b, a_scale, b_scale, a_zero) -> Tensor:
    """Each scale along the other side, 0 where it is too short."""
    acc = product()(a, b, torch.ones_like(a_scale), torch.ones_like(b_scale), a_zero)
    rows, cols = acc.shape
    return acc * stretched(b_scale, rows)[:, None] * stretched(a_scale, cols)


def unsigned(x: Tensor) -> Tensor:
    return torch.where(x < 0, x + 256, x)


def cut(x: Tensor) -> Tensor:
    return x.clamp(min=-127)


def wrapped(bits: int):
    """Integers as so many bits hold them."""
    return lambda c: (c + 2 ** (bits - 1)).remainder(2**bits) - 2 ** (bits - 1)


SUSPECTS = {
    "The zero points are left out.": product(lambda a, b, zero: 0.0),
    "The zero points are added where they have to be taken out.": (
        product(lambda a, b, zero: -taken_out(a, b, zero))
    ),
    "A zero point is taken out once: it goes times the sum of b's column.": (
        product(lambda a, b, zero: zero[:, None])
    ),
    "A zero point goes times the number of elements: it has to go times the sum of b's column.": (
        product(lambda a, b, zero: zero[:, None] * a.shape[1])
    ),
    "A zero point goes times the sum of a's row: it has to go times that of b's column.": (
        product(lambda a, b, zero: (zero * a.sum(dim=1))[:, None])
    ),
    "The zero points are taken for those of b's columns.": (
        product(lambda a, b, zero: a.sum(dim=1)[:, None] * along_rows(zero, b.shape[1])[:, 0])
    ),
    "a - a_zero wraps in int8, which does not hold it: take the zero point out behind the sum.": (
        lambda a, b, a_scale, b_scale, a_zero: product()(
            a if a_zero is None else wrapped(8)(a.double() - a_zero.double()[:, None]),
            b,
            a_scale,
            b_scale,
            None,
        )
    ),
    "The scales are swapped: a_scale belongs to rows, b_scale to columns.": swapped,
    "a_scale is left out.": lambda a, b, a_scale, *rest: product()(a, b, torch.ones_like(a_scale), *rest),
    "b_scale is left out.": lambda a, b, a_scale, b_scale, zero: product()(
        a, b, a_scale, torch.ones_like(b_scale), zero
    ),
    "a is read as uint8: its negative numbers are 256 too large.": product(left=unsigned),
    "b is read as uint8: its negative numbers are 256 too large.": product(right=unsigned),
    "a and b are read as uint8: negative numbers are 256 too large.": product(left=unsigned, right=unsigned),
    "-128 of a is taken for -127.": product(left=cut),
    "-128 of b is taken for -127.": product(right=cut),
    "-128 is taken for -127.": product(left=cut, right=cut),
    "The sums wrap in int16: they need int32.": product(sums=wrapped(16)),
    "The sums are in fp32, which loses the last digits past 2²⁴: add up in int32.": in_fp32,
    "The sums of b's columns wrap in 8 bits: convert to int32 before you add.": product(
        lambda a, b, zero: zero[:, None] * sum(wrapped(8)(part.sum(dim=0)) for part in b.split(128))
    ),
    "The sums of b's columns take its bytes for unsigned ones.": product(
        lambda a, b, zero: zero[:, None] * unsigned(b).sum(dim=0)
    ),
}

for block in BLOCKS:
    SUSPECTS[f"Along k whole blocks of {block} are counted: the last, partial one is left out."] = product(
        inner=lambda k, block=block: slice(0, whole_blocks(k, block))
    )
    SUSPECTS[f"Along k the last block of {block} alone counts: each overwrites the sum of those before."] = (
        product(inner=lambda k, block=block: slice(last_block(k, block), k))
    )
    SUSPECTS[f"The sums of b's columns are those of the last block of {block} along k alone."] = product(
        lambda a, b, zero, block=block: zero[:, None] * b[last_block(len(b), block) :].sum(dim=0)
    )
