"""NF4 by torch, and what a learner may have computed in its place."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from grader.challenge.formulas.nf4 import in_blocks, levels, unpack

TIE = 2.0**-20  # relative, by which a quotient may miss an edge and still be beside it


def edges(like: Tensor) -> Tensor:
    """Halfway between two levels, fp64 [15]."""
    return (levels(like)[1:] + levels(like)[:-1]) / 2


def nearest(ratio: Tensor) -> Tensor:
    """The code of the nearest level, and of the lower one on an edge."""
    return torch.bucketize(ratio.double(), edges(ratio))


def largest(x: Tensor, block: int) -> Tensor:
    """max |x| of each block."""
    return in_blocks(x, block).abs().amax(dim=1)


def ratios(x: Tensor, absmax: Tensor, block: int) -> Tensor:
    """x over the absmax of its block, [n]; 0 in a block of zeros."""
    return (in_blocks(x, block) / torch.where(absmax > 0, absmax, 1.0)[:, None]).flatten()[: len(x)]


def pack(codes: Tensor) -> Tensor:
    """Two codes a byte, the first one in the high half."""
    high, low = codes.view(-1, 2).unbind(1)
    return (high << 4 | low).to(torch.uint8)


def quantized(
    x: Tensor,
    block: int,
    *,
    scale: Callable[[Tensor, int], Tensor] = largest,
    code: Callable[[Tensor], Tensor] = nearest,
    put: Callable[[Tensor], Tensor] = pack,
) -> tuple[Tensor, Tensor]:
    """The bytes, and the absmax of each block.

    Args:
        scale: what a block is divided by.
        code: of a ratio.
        put: codes into bytes.
    """
    absmax = scale(x, block)
    ratio = ratios(x, absmax, block)
    # Beside the last of an odd number stands the code of a 0, as lanes past the end have it.
    return put(code(torch.nn.functional.pad(ratio, (0, len(x) % 2)))), absmax.float()


def dequantized(
    packed: Tensor,
    absmax: Tensor,
    n: int,
    block: int,
    *,
    take: Callable[[Tensor], Tensor] = unpack,
    level: Callable[[Tensor], Tensor] = levels,
    spread: Callable[[Tensor, int], Tensor] = lambda absmax, block: absmax.repeat_interleave(block),
) -> Tensor:
    """What bytes stand for, in absmax' dtype.

    Args:
        take: codes from bytes.
        level: the table.
        spread: of each element, the absmax.
    """
    of_block = spread(absmax, block)
    return level(packed).to(absmax.dtype)[take(packed)[:n]] * of_block[:n]


def near_edge(got: Tensor, x: Tensor, block: int) -> Tensor:
    """Which bytes hold codes that rounding on the way to the ratio explains; what stands past n is open."""
    ratio = ratios(x.double(), largest(x.double(), block), block)
    slack = TIE * ratio.abs()
    least, most = (
        torch.nn.functional.pad(nearest(end), (0, len(x) % 2), value=past)
        for end, past in ((ratio - slack, 0), (ratio + slack, 15))
    )
    codes = unpack(got)
    return ((least <= codes) & (codes <= most)).view(-1, 2).all(dim=1)


def swapped(codes: Tensor) -> Tensor:
    packed = pack(codes)
    return packed << 4 | packed >> 4


def halves(codes: Tensor) -> Tensor:
    """The second half of all codes in the low halves of the bytes."""
    high, low = codes.view(2, -1)
    return (high << 4 | low).to(torch.uint8)


def of_whole(x: Tensor, block: int) -> Tensor:
    return largest(x, block) * 0 + x.abs().max()


def of_program(x: Tensor, block: int) -> Tensor:
    """As if the 4096 elements of a program were one block."""
    programs = in_blocks(largest(x, block), 4096 // block)
    return programs.amax(dim=1).repeat_interleave(4096 // block)[: -(-len(x) // block)]


def of_signed(x: Tensor, block: int) -> Tensor:
    return in_blocks(x, block).amax(dim=1)


def filled_with_ones(x: Tensor, block: int) -> tuple[Tensor, Tensor]:
    """With ones past the end, whose code stands beside the last of an odd number."""
    packed, absmax = quantized(torch.nn.functional.pad(x, (0, -len(x) % block), value=1.0), block)
    return packed[: -(-len(x) // 2)], absmax


def even_steps(ratio: Tensor) -> Tensor:
    """As if the levels were 16 equal steps."""
    return ((ratio + 1) * 7.5).round().long().clamp(0, 15)


def below(ratio: Tensor) -> Tensor:
    """The level below, or at the ratio."""
    return (torch.bucketize(ratio.double(), levels(ratio), right=True) - 1).clamp(0, 15)


def strictly_below(ratio: Tensor) -> Tensor:
    return (torch.bucketize(ratio.double(), levels(ratio)) - 1).clamp(0, 15)


def above(ratio: Tensor) -> Tensor:
    return torch.bucketize(ratio.double(), levels(ratio)).clamp(0, 15)


def upper(ratio: Tensor) -> Tensor:
    return torch.bucketize(ratio.double(), edges(ratio), right=True)


def of_three(ratio: Tensor) -> Tensor:
    """The last of four questions is not asked."""
    return nearest(ratio) // 2 * 2


def zero_is_lowest(x: Tensor, block: int) -> tuple[Tensor, Tensor]:
    """0 / 0 is NaN, and above no edge."""
    packed, absmax = quantized(x, block)
    codes = unpack(packed)
    lost = (absmax == 0).repeat_interleave(block)[: len(codes)]
    return pack(torch.where(lost, 0, codes)), absmax


def other(function: Callable, **how: Callable) -> Callable:
    """Someone of whose steps these are different."""
    return lambda *given: function(*given, **how)


def without_last_byte(packed: Tensor, absmax: Tensor, n: int, block: int) -> Tensor:
    """Of an odd n, where a byte that is not read is 0."""
    read = packed.clone()
    read[n // 2 :] = 0
    return dequantized(read, absmax, n, block)


OF_QUANTIZE = {
    "The halves of a byte have changed places: the first element is in the high half.": other(
        quantized, put=swapped
    ),
    "The second half of x is in the low halves: a byte holds two neighbours.": other(quantized, put=halves),
    "absmax is that of all of x: each block has its own.": other(quantized, scale=of_whole),
    "The blocks of a program share one absmax: each block has its own.": other(quantized, scale=of_program),
    "absmax is the largest element: it is the largest |element|.": other(quantized, scale=of_signed),
    "Lanes past the end count in the last absmax: they must hold 0.": filled_with_ones,
    "All codes are even: the last question of the search is not asked.": other(quantized, code=of_three),
    "The levels are taken to be equal steps: they lie closer together around 0.": other(
        quantized, code=even_steps
    ),
    "This is the level below each ratio: the nearest one is wanted.": other(quantized, code=below),
    "This is the level below each ratio, even of one that is a level: the nearest one is wanted.": other(
        quantized, code=strictly_below
    ),
    "This is the level above each ratio: the nearest one is wanted.": other(quantized, code=above),
    "Halfway between two levels this takes the upper one: the lower one is wanted.": other(
        quantized, code=upper
    ),
    "A block of zeros gets code 0, which is -1: 0 / 0 is NaN. Level 0 is code 7.": zero_is_lowest,
}


OF_DEQUANTIZE = {
    "The halves of a byte have changed places: the first element is in the high half.": other(
        dequantized, take=lambda packed: unpack(packed << 4 | packed >> 4)
    ),
    "The low halves are taken for the second half: a byte holds two neighbours.": other(
        dequantized, take=lambda packed: torch.cat((packed >> 4, packed & 15)).long()
    ),
    "Each high half counts twice: a byte's second element is its low half.": other(
        dequantized, take=lambda packed: (packed >> 4).repeat_interleave(2).long()
    ),
    "Each low half counts twice: a byte's first element is its high half.": other(
        dequantized, take=lambda packed: (packed & 15).repeat_interleave(2).long()
    ),
    "The last byte of an odd n is not read: there are (n + 1) // 2.": without_last_byte,
    "absmax is left out.": other(
        dequantized, spread=lambda absmax, block: torch.ones_like(absmax).repeat_interleave(block)
    ),
    "All blocks take the first absmax.": other(
        dequantized, spread=lambda absmax, block: absmax[:1].expand(len(absmax) * block)
    ),
    "The block is counted in bytes: it is a number of elements, two to a byte.": other(
        dequantized, spread=lambda absmax, block: absmax.repeat_interleave(2 * block)
    ),
    "Neighbours take the blocks' absmax in turn: `block` of them share one.": other(
        dequantized, spread=lambda absmax, block: absmax.repeat(block)
    ),
    "The levels are taken to be equal steps: they are those of LEVELS.": other(
        dequantized, level=lambda packed: torch.linspace(-1, 1, 16, dtype=torch.float64, device=packed.device)
    ),
}
