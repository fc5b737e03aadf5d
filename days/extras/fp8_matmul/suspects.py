"""What a learner may have computed in the place of a scaled FP8 product."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge.formulas.block_bounds import BLOCKS, last_block, whole_blocks
from grader.challenge.formulas.stride_suspects import stretched, through


def product(inner=lambda k: slice(None), right=lambda b: b, left=lambda a: a, sums=lambda c: c):
    """Sums of `left` a times `right` b along `inner`, through `sums`; then the scales."""

    def wrong(a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor) -> Tensor:
        cut = inner(a.shape[1])
        acc = left(a.double())[:, cut] @ right(b.double())[:, cut].t()
        return sums(acc) * a_scale.double()[:, None] * b_scale.double()

    return wrong


def swapped(a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor) -> Tensor:
    """Each scale along the other side, 0 where it is too short."""
    acc = a.double() @ b.double().t()
    rows, cols = acc.shape
    return acc * stretched(b_scale, rows)[:, None] * stretched(a_scale, cols)


def in_14_bits(a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor) -> Tensor:
    """Of the 32 products of a step, of the sum so far and of the new one 14 bits each, as sm_90 has them."""
    a, b = a.float(), b.float()
    acc = a.new_zeros(len(a), len(b))
    for start in range(0, a.shape[1], 32):
        products = a[:, None, start : start + 32] * b[None, :, start : start + 32]
        unit = unit_of(torch.maximum(products.abs().amax(dim=-1), acc.abs()))
        acc = (products / unit[..., None]).trunc().sum(dim=-1) + (acc / unit).trunc()
        acc = (acc / unit_of(acc)).trunc() * unit_of(acc) * unit
    return acc.double() * a_scale.double()[:, None] * b_scale.double()


def in_14_bits_or_small(a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor) -> Tensor:
    """The same by blocks that are no higher than a needs: those of less than 64 rows go to no such unit."""
    return (in_14_bits if len(a) > 32 else product())(a, b, a_scale, b_scale)


def unit_of(numbers: Tensor) -> Tensor:
    """The last of a number's 14 bits."""
    return torch.ldexp(torch.ones_like(numbers), torch.frexp(numbers).exponent - 14)


KEPT = "that is what the FP8 units keep of one that runs through the whole of k. Have them promoted to fp32: "
KEPT += "max_num_imprecise_acc, or acc += tl.dot(…)."
SUSPECTS = {
    f"The sums have 14 bits only: {KEPT}": in_14_bits,
    f"The sums have 14 bits only, where a block has 64 rows or more: {KEPT}": in_14_bits_or_small,
    "The scales are swapped: a_scale belongs to rows, b_scale to columns.": swapped,
    "a_scale is left out.": lambda a, b, a_scale, b_scale: product()(a, b, torch.ones_like(a_scale), b_scale),
    "b_scale is left out.": lambda a, b, a_scale, b_scale: product()(a, b, a_scale, torch.ones_like(b_scale)),
    "It is divided by the scales: x is about code · scale.": lambda a, b, a_scale, b_scale: product()(
        a, b, 1 / a_scale, 1 / b_scale
    ),
    "b is read as [k, n]: it is [n, k], its rows are the columns of the product.": (
        product(right=lambda b: through((1, len(b)), b))
    ),
}

for block in BLOCKS:
    SUSPECTS[f"Along k whole blocks of {block} are counted: the last, partial one is left out."] = product(
        lambda k, block=block: slice(0, whole_blocks(k, block))
    )
    SUSPECTS[f"Along k the last block of {block} alone counts: each overwrites the sum of those before."] = (
        product(lambda k, block=block: slice(last_block(k, block), k))
    )
