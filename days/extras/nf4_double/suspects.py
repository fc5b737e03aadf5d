"""Double quantisation by torch, and what a learner may have computed in its place."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from grader.challenge.formulas.nf4 import in_blocks, levels, unpack

TIE = 2.0**-20  # of what is subtracted and of what is left: so little may move a ratio
PROGRAM = 4096  # elements of a program of the solution
Three = tuple[Tensor, Tensor, Tensor]


def mean(absmax: Tensor, block: int) -> Tensor:
    """Of all that is there; NaN of nothing."""
    return absmax.mean()


def largest(left: Tensor, block: int) -> Tensor:
    """max |left| of each block."""
    return in_blocks(left, block).abs().amax(dim=1)


def ratios(left: Tensor, scales: Tensor, block: int) -> Tensor:
    """What is left over the scale of its block, [n]; 0 where that is 0."""
    return (in_blocks(left, block) / torch.where(scales > 0, scales, 1.0)[:, None]).flatten()[: len(left)]


def nearest(ratio: Tensor, table: Tensor) -> Tensor:
    """The number of the nearest entry, of two equally near ones the first."""
    edges = (table[1:].double() + table[:-1].double()) / 2
    return torch.bucketize(ratio.double(), edges)


def quantized(
    absmax: Tensor,
    table: Tensor,
    block: int,
    *,
    center: Callable[[Tensor, int], Tensor] = mean,
    scale: Callable[[Tensor, int], Tensor] = largest,
    code: Callable[[Tensor, Tensor], Tensor] = nearest,
) -> Three:
    """Codes, scales and the offset.

    Args:
        center: the offset.
        scale: what each block of absmax − offset is divided by.
        code: of a ratio, by the table.
    """
    offset = center(absmax, block)
    left = absmax - offset
    scales = scale(left, block)
    return code(ratios(left, scales, block), table).to(torch.uint8), scales, offset.view(1)


def near_tie(got: Tensor, absmax: Tensor, table: Tensor, block: int) -> Tensor:
    """Which codes are of an entry that is the nearest, but for what rounding may have moved the ratio by.

    The offset is a rounded sum, and what is left of absmax without it has the error of both.
    """
    absmax, table = absmax.double(), table.double()
    offset = absmax.mean()
    scales = largest(absmax - offset, block)
    ratio = ratios(absmax - offset, scales, block)
    slack = TIE * ratios(absmax.abs() + offset.abs(), scales, block)
    off = (table[nearest(ratio, table)] - ratio).abs()
    return (table[got.long()] - ratio).abs() <= off + 2 * slack


def restored(codes: Tensor, table: Tensor, scales: Tensor, offset: Tensor, block: int, block2: int) -> Tensor:
    """absmax of each block of weights."""
    return table[codes.long()] * scales.repeat_interleave(block2)[: len(codes)] + offset


def dequantized(
    packed: Tensor,
    codes: Tensor,
    table: Tensor,
    scales: Tensor,
    offset: Tensor,
    n: int,
    block: int,
    block2: int,
    *,
    absmax: Callable[..., Tensor] = restored,
    take: Callable[[Tensor], Tensor] = unpack,
    each: Callable[[Tensor, int], Tensor] = lambda absmax, block: absmax.repeat_interleave(block),
) -> Tensor:
    """What bytes stand for, in the table's dtype.

    Args:
        absmax: of each block of weights.
        take: codes of weights from bytes.
        each: of each weight, the absmax.
    """
    of_block = absmax(codes, table, scales, offset, block, block2)
    return levels(packed).to(table.dtype)[take(packed)[:n]] * each(of_block, block)[:n]


def other(function: Callable, **how: Callable) -> Callable:
    """Someone of whose steps these are different."""
    return lambda *given: function(*given, **how)


def padded_mean(size: int | None) -> Callable[[Tensor, int], Tensor]:
    """The sum over the elements of whole blocks, or of whole programs of `size`."""
    return lambda absmax, block: absmax.sum() / (-(-len(absmax) // (size or block)) * (size or block))


def with_offset(absmax: Tensor, table: Tensor, block: int) -> Three:
    """Nothing is subtracted before the codes are looked for."""
    codes, scales, _ = quantized(absmax, table, block, center=lambda absmax, block: absmax.new_zeros(()))
    return codes, scales, absmax.mean().view(1)


def scaled_before(absmax: Tensor, table: Tensor, block: int) -> Three:
    """The scale is that of absmax, where that of what is left is wanted."""
    return quantized(absmax, table, block, scale=lambda left, block: largest(absmax, block))


def filled_up(absmax: Tensor, table: Tensor, block: int) -> Three:
    """Lanes past the end hold 0, of which the offset is subtracted, too."""
    more = -len(absmax) % block
    return quantized(
        absmax,
        table,
        block,
        scale=lambda left, block: largest(
            torch.nn.functional.pad(left, (0, more), value=-absmax.mean()), block
        ),
    )


def of_program(left: Tensor, block: int) -> Tensor:
    programs = in_blocks(largest(left, block), PROGRAM // block)
    return programs.amax(dim=1).repeat_interleave(PROGRAM // block)[: -(-len(left) // block)]


def zero_is_first(absmax: Tensor, table: Tensor, block: int) -> Three:
    """0 / 0 is NaN, and above no edge."""
    codes, scales, offset = quantized(absmax, table, block)
    lost = (scales == 0).repeat_interleave(block)[: len(codes)]
    return torch.where(lost, 0, codes), scales, offset


def added_to_weights(packed: Tensor, codes: Tensor, table: Tensor, scales: Tensor, offset: Tensor, *sizes):
    return dequantized(packed, codes, table, scales, 0 * offset, *sizes) + offset


def without_last_byte(packed: Tensor, *given) -> Tensor:
    """Of an odd n, where a byte that is not read is 0."""
    read, n = packed.clone(), given[4]
    read[n // 2 :] = 0
    return dequantized(read, *given)


def without_last_block(packed: Tensor, codes: Tensor, table: Tensor, scales: Tensor, *given) -> Tensor:
    """Of a last block that is not full, neither code nor scale is read: 0 is in their place."""
    _, n, block, _ = given
    whole = dequantized(packed, codes, table, scales, *given)
    lost = dequantized(packed, codes, table, 0 * scales, *given)
    return torch.where(torch.arange(n, device=packed.device) < n // block * block, whole, lost)


def without_last_scale(packed: Tensor, codes: Tensor, table: Tensor, scales: Tensor, *given) -> Tensor:
    """Of a last block of blocks that is not full, the scale is not read: 0 is in its place."""
    _, n, block, block2 = given
    full = torch.arange(len(scales), device=scales.device) < n // block // block2
    return dequantized(packed, codes, table, torch.where(full, scales, 0.0), *given)


def kept_up(absmax: Tensor, table: Tensor, block: int) -> Three:
    """A little is added to what is divided by, and not to the scale that is stored."""
    _, scales, offset = quantized(absmax, table, block)
    codes = nearest(ratios(absmax - offset, scales + 1e-12, block), table)
    return codes.to(torch.uint8), scales, offset


OF_QUANTIZE = {
    "The sum is divided by more elements than there are: the offset is the sum over n.": other(
        quantized, center=padded_mean(PROGRAM)
    ),
    "The sum is divided by the elements of whole blocks: the offset is the sum over n.": other(
        quantized, center=padded_mean(None)
    ),
    "What is stored as the offset is a sum: it is the mean, the sum over n.": other(
        quantized, center=lambda absmax, block: absmax.sum()
    ),
    "absmax is coded as it is: the offset is subtracted first.": with_offset,
    "The scale is that of absmax as it is: what counts is what is left without the offset.": scaled_before,
    "The scale is the largest of what is left: it is the largest magnitude.": other(
        quantized, scale=lambda left, block: in_blocks(left, block).amax(dim=1)
    ),
    "Lanes past the end count in the last scale, as |0 − offset|: there must be 0 after the difference.": (
        filled_up
    ),
    "The blocks of a program share one scale: each block has its own.": other(quantized, scale=of_program),
    "All codes are even: the last question of the search is not asked.": other(
        quantized, code=lambda ratio, table: nearest(ratio, table) // 2 * 2
    ),
    "This is the entry below each ratio: the nearest one is wanted.": other(
        quantized,
        code=lambda ratio, table: (torch.bucketize(ratio, table, right=True) - 1).clamp(0, 255),
    ),
    "This is the entry above each ratio: the nearest one is wanted.": other(
        quantized, code=lambda ratio, table: torch.bucketize(ratio, table).clamp(0, 255)
    ),
    "Codes are counted in equal steps from -1 to 1: they are numbers of entries of the table.": other(
        quantized, code=lambda ratio, table: ((ratio + 1) * 127.5).round()
    ),
    "Small absmax are coded as 0: a little is added to the scale, or it is kept above some number.": kept_up,
    "Where a scale is 0 the first entry is taken, as 0 / 0 is NaN: the one nearest to 0 is wanted.": (
        zero_is_first
    ),
}


OF_DEQUANTIZE = {
    "The offset is left out: absmax is entry · scale + offset.": other(
        dequantized,
        absmax=lambda codes, table, scales, offset, *blocks: restored(codes, table, scales, 0, *blocks),
    ),
    "The offset is added twice.": other(
        dequantized,
        absmax=lambda codes, table, scales, offset, *blocks: restored(
            codes, table, scales, 2 * offset, *blocks
        ),
    ),
    "The offset is added to each weight: it is a part of its absmax.": added_to_weights,
    "The offset is multiplied by the scale, too: absmax is entry · scale + offset.": other(
        dequantized,
        absmax=lambda codes, table, scales, offset, *blocks: restored(
            codes, table + offset, scales, 0, *blocks
        ),
    ),
    "The scale is left out: absmax is entry · scale + offset.": other(
        dequantized,
        absmax=lambda codes, table, scales, offset, *blocks: restored(
            codes, table, torch.ones_like(scales), offset, *blocks
        ),
    ),
    "All blocks take the first scale.": other(
        dequantized,
        absmax=lambda codes, table, scales, offset, *blocks: restored(
            codes, table, scales[:1].expand(scales.shape), offset, *blocks
        ),
    ),
    "Weights take codes as if `block2` of them shared one: a code is for `block` weights.": other(
        dequantized,
        absmax=lambda codes, table, scales, offset, block, block2: restored(
            codes, table, scales, offset, block, block2
        ).repeat_interleave(max(block2 // block, 1)),
    ),
    "Scales are counted as if `block` codes shared one: `block2` of them do.": other(
        dequantized,
        absmax=lambda codes, table, scales, offset, block, block2: (
            table[codes.long()] * scales[(torch.arange(len(codes)) // block).clamp(max=len(scales) - 1)]
            + offset
        ),
    ),
    "Scales are taken in turn by neighbouring blocks: `block2` of them share one.": other(
        dequantized,
        absmax=lambda codes, table, scales, offset, block, block2: (
            table[codes.long()] * scales.repeat(block2)[: len(codes)] + offset
        ),
    ),
    "Codes are counted in equal steps from -1 to 1: they are numbers of entries of the table.": other(
        dequantized,
        absmax=lambda codes, table, *more: restored(
            codes, torch.linspace(-1, 1, 256, dtype=table.dtype, device=table.device), *more
        ),
    ),
    "The last byte of an odd n is not read: there are (n + 1) // 2.": without_last_byte,
    "A last block that is not full takes neither its code nor its scale: it is there where it begins.": (
        without_last_block
    ),
    "The scale of a last block of blocks that is not full is not read: it is there where that begins.": (
        without_last_scale
    ),
    "The halves of a byte have changed places: the first element is in the high half.": other(
        dequantized, take=lambda packed: unpack(packed << 4 | packed >> 4)
    ),
    "Neighbours take the blocks' absmax in turn: `block` of them share one.": other(
        dequantized, each=lambda absmax, block: absmax.repeat(block)
    ),
}
