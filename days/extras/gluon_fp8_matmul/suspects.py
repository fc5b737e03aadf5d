"""What a learner may have computed in the place of a scaled FP8 product by steps of 128."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge.formulas.block_bounds import BLOCKS, last_block, whole_blocks
from grader.challenge.formulas.stride_suspects import stretched

STEP = 32  # products that one instruction adds up


def product(inner=lambda k: slice(None), of=lambda a, b: a @ b.t()):
    """`of` a and b, cut along k by `inner`, in fp64; then the scales."""

    def wrong(a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor) -> Tensor:
        cut = inner(a.shape[1])
        sums = of(a.double()[:, cut], b.double()[:, cut])
        return sums * a_scale.double()[:, None] * b_scale.double()

    return wrong


def swapped(a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor) -> Tensor:
    """Each scale along the other side, 0 where it is too short."""
    sums = a.double() @ b.double().t()
    rows, cols = sums.shape
    return sums * stretched(b_scale, rows)[:, None] * stretched(a_scale, cols)


def in_14_bits(a: Tensor, b: Tensor) -> Tensor:
    """As sm_90 adds: of 32 products, of the sum so far and of the new one 14 bits each."""
    b = b.float()
    return torch.cat([rows_in_14_bits(some.float(), b) for some in a.split(16)]).double()


def rows_in_14_bits(a: Tensor, b: Tensor) -> Tensor:
    """The same of a few rows, since each of their products takes memory."""
    sums = a.new_zeros(len(a), len(b))
    for start in range(0, a.shape[1], STEP):
        products = a[:, None, start : start + STEP] * b[None, :, start : start + STEP]
        unit = unit_of(torch.maximum(products.abs().amax(dim=-1), sums.abs()))
        sums = (products / unit[..., None]).trunc().sum(dim=-1) + (sums / unit).trunc()
        sums = (sums / unit_of(sums)).trunc() * unit_of(sums) * unit
    return sums


def unit_of(numbers: Tensor) -> Tensor:
    """The last of a number's 14 bits."""
    return torch.ldexp(torch.ones_like(numbers), torch.frexp(numbers).exponent - 14)


def alike(a: Tensor) -> Tensor:
    """The first 64 of every 192 rows three times."""
    at = torch.arange(len(a), device=a.device)
    return a[at // 192 * 192 + at % 64]


KEPT = (
    "that is what the FP8 units keep of one that runs through the whole of k. Start a new one in each step, "
)
KEPT += "and add it to acc in fp32."
ones = torch.ones_like
SUSPECTS = {
    f"The sums have 14 bits only: {KEPT}": product(of=in_14_bits),
    "The scales are swapped: a_scale belongs to rows, b_scale to columns.": swapped,
    "a_scale is left out.": lambda a, b, a_scale, b_scale: product()(a, b, ones(a_scale), b_scale),
    "b_scale is left out.": lambda a, b, a_scale, b_scale: product()(a, b, a_scale, ones(b_scale)),
    "It is divided by the scales: x is about code · scale.": lambda a, b, a_scale, b_scale: product()(
        a, b, 1 / a_scale, 1 / b_scale
    ),
    "All warp groups have the same 64 rows of a.": product(of=lambda a, b: alike(a) @ b.t()),
}

for block in BLOCKS:
    SUSPECTS[f"Along k whole blocks of {block} are counted: the last, partial one is left out."] = product(
        inner=lambda k, block=block: slice(0, whole_blocks(k, block))
    )
    SUSPECTS[f"Along k the last block of {block} alone counts: each overwrites the sum of those before."] = (
        product(inner=lambda k, block=block: slice(last_block(k, block), k))
    )
