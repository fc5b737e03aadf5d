"""What a learner may have computed in the place of codes and scales."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from grader.challenge.formulas.dtypes import BRAIN, E5M2, HALF
from grader.challenge.formulas.float8 import codes


def quantized(
    scale_of: Callable[[Tensor], Tensor],
    stored=lambda scale: scale,
    divisor=lambda scale: scale,
    rounded=lambda quotient: quotient,
):
    """Codes by `divisor` of the scales of blocks, fp64 [m, n / block, block]; what is `stored` of them.

    Quotients are `rounded` before the cast.
    """

    def wrong(x: Tensor, block: int) -> tuple[Tensor, Tensor]:
        blocks = x.double().unflatten(1, (x.shape[1] // block, block))
        scale = scale_of(blocks).float().double()
        return codes(rounded(blocks / divisor(scale)[..., None])).flatten(1), stored(scale)

    return wrong


def safe(amax: Tensor, largest: float = 448.0) -> Tensor:
    """The scale of these maxima; 1 where one is 0."""
    return torch.where(amax > 0, amax / largest, 1.0)


def of_blocks(blocks: Tensor, largest: float = 448.0) -> Tensor:
    return safe(blocks.abs().amax(dim=-1), largest)


def of_rows(blocks: Tensor) -> Tensor:
    return safe(blocks.abs().amax(dim=(1, 2), keepdim=True)[..., 0].expand(blocks.shape[:2]))


def of_all(blocks: Tensor) -> Tensor:
    amax = blocks.abs().amax() if blocks.numel() else blocks.new_zeros(())
    return safe(amax).expand(blocks.shape[:2])


def of_padded(blocks: Tensor) -> Tensor:
    """With the elements behind a block, up to the next power of two, as far as the row goes."""
    width = 1 << (blocks.shape[-1] - 1).bit_length()
    rows = torch.nn.functional.pad(blocks.flatten(1), (0, width))
    return safe(rows.unfold(1, width, blocks.shape[-1])[:, : blocks.shape[1]].abs().amax(dim=-1))


def floored(blocks: Tensor) -> Tensor:
    return safe(blocks.abs().amax(dim=-1).clamp(min=1e-12))


SUSPECTS = {
    "One scale is made for the whole matrix: each block of it has one of its own.": quantized(of_all),
    "One scale is made for a whole row: each block of it has one of its own.": quantized(of_rows),
    "The scale comes of the largest element, not of the largest magnitude: tl.abs() is missing.": (
        quantized(lambda blocks: safe(blocks.amax(dim=-1)))
    ),
    "A block's maximum sees elements of the next block: the lanes past its end are not masked.": (
        quantized(of_padded)
    ),
    "The scale is stored upside down: x is about q · scale, so it is amax / 448.": (
        quantized(of_blocks, stored=torch.reciprocal)
    ),
    "What is stored is the largest magnitude itself: the scale is that divided by 448.": (
        quantized(of_blocks, stored=lambda scale: 448 * scale)
    ),
    "x is multiplied by the scale where it has to be divided by it.": (
        quantized(of_blocks, divisor=torch.reciprocal)
    ),
    "Codes end at 240, the largest number of another format: that of e4m3 is 448.": (
        quantized(lambda blocks: of_blocks(blocks, 240.0))
    ),
    "Codes end at 127, as those of int8 do: e4m3's largest number is 448.": (
        quantized(lambda blocks: of_blocks(blocks, 127.0))
    ),
    "The scale is rounded up to a power of two: it is amax / 448 as it is.": (
        quantized(lambda blocks: of_blocks(blocks).log2().ceil().exp2())
    ),
    "The quotients are rounded to bf16 first, and then once more, to codes: divide in fp32.": (
        quantized(of_blocks, rounded=lambda quotient: quotient.to(BRAIN).double())
    ),
    "The quotients are rounded to fp16 first, and then once more, to codes: divide in fp32.": (
        quantized(of_blocks, rounded=lambda quotient: quotient.to(HALF).double())
    ),
    "The quotients are rounded to integers first, as for int8: e4m3 has codes between them.": (
        quantized(of_blocks, rounded=lambda quotient: (quotient + 0.5).floor())
    ),
    "The codes have lost a bit: they went by way of e5m2, which has 2 bits of fraction where e4m3 has 3.": (
        quantized(of_blocks, rounded=lambda quotient: quotient.to(E5M2).double())
    ),
    "Small blocks lose their codes: the largest magnitude is kept above a small number, or one is added.": (
        quantized(floored)
    ),
}
