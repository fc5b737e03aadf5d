"""What a learner may have computed on day 28 in the place of attention, and of its bytes."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.challenge.formulas.attention import attention, scores
from grader.challenge.formulas.block_bounds import BLOCKS, last_block, whole_blocks
from grader.challenge.formulas.stride_suspects import first_heads, through

NOTHING = torch.tensor(torch.inf)  # no guess: it is the result of nobody


def raised(q, k, scale) -> torch.Tensor:
    """exp(s - max): weights that are not divided by their sum."""
    s = q @ k.mT * scale
    return torch.exp(s - s.amax(-1, keepdim=True))


def undivided(q, k, v, scale) -> torch.Tensor:
    return raised(q, k, scale) @ v


def of_whole_blocks(block: int) -> Callable[..., torch.Tensor]:
    """Attention that leaves out the last keys, unless they fill a block."""

    def wrong(q, k, v, scale) -> torch.Tensor:
        end = whole_blocks(k.shape[2], block)
        return attention(q, k[:, :, :end], v[:, :, :end], scale) if end else NOTHING

    return wrong


def of_keys(keep: Callable[[int], torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Attention over these keys alone, of so many."""

    def wrong(q, k, v, scale) -> torch.Tensor:
        kept = keep(k.shape[2])
        return attention(q, k[:, :, kept], v[:, :, kept], scale) if len(kept) else NOTHING

    return wrong


def of_tiles(block: int) -> dict[str, Callable[..., torch.Tensor]]:
    """What goes wrong from the second tile of keys on, for a kernel that takes so many at a time."""
    return {
        f"Every second tile of {block} keys is skipped: the loop's step is twice the tile.": of_keys(
            lambda length: torch.tensor([key for key in range(length) if key // block % 2 == 0])
        ),
        f"Only the first {block} keys count: the others need more turns of the loop.": of_keys(
            lambda length: torch.arange(min(block, length))
        ),
        f"The first tile of {block} keys is left out.": of_keys(lambda length: torch.arange(length)[block:]),
        f"k stands still: every tile of {block} keys is the first one.": lambda q, k, v, scale: attention(
            q, k[:, :, torch.arange(k.shape[2]) % block], v, scale
        ),
    }


def first_values(block: int) -> Callable[..., torch.Tensor]:
    """Attention whose every block of keys is given the values of the first."""
    return lambda q, k, v, scale: attention(q, k, v[:, :, torch.arange(k.shape[2]) % block], scale)


def last_values(block: int) -> Callable[..., torch.Tensor]:
    """Attention whose weighted sum is that of the last block of keys alone."""

    def wrong(q, k, v, scale) -> torch.Tensor:
        start = last_block(k.shape[2], block)
        return torch.softmax(q @ k.mT * scale, -1)[..., start:] @ v[:, :, start:]

    return wrong


def with_tail(block: int) -> Callable[..., torch.Tensor]:
    """Attention in which lanes past the last key count with score 0."""

    def wrong(q, k, v, scale) -> torch.Tensor:
        s = torch.nn.functional.pad(q @ k.mT * scale, (0, -k.shape[2] % block))
        return torch.softmax(s, -1)[..., : k.shape[2]] @ v

    return wrong


def last_sum(block: int) -> Callable[..., torch.Tensor]:
    """Attention whose weights are divided by the sum of those of the last block of keys."""

    def wrong(q, k, v, scale) -> torch.Tensor:
        weights = raised(q, k, scale)
        return weights @ v / weights[..., last_block(k.shape[2], block) :].sum(-1, keepdim=True)

    return wrong


SCALE = "Scores are q · k · scale, with the scale once."

OF_ATTENTION = {
    f"The scale is missing. {SCALE}": lambda q, k, v, scale: attention(q, k, v, 1.0),
    f"The scale is applied twice. {SCALE}": lambda q, k, v, scale: attention(q, k, v, scale * scale),
    f"Scores are divided by the scale. {SCALE}": lambda q, k, v, scale: attention(q, k, v, 1 / scale),
    "The weights are not divided by their sum.": undivided,
    "There is no softmax: the scores themselves weigh v.": lambda q, k, v, scale: (q @ k.mT * scale) @ v,
    "The softmax runs over the queries: each query's weights, over the keys, must sum to 1.": (
        lambda q, k, v, scale: torch.softmax(q @ k.mT * scale, -2) @ v
    ),
    "The last key is left out: a mask or a range ends one too early.": lambda q, k, v, scale: (
        attention(q, k[:, :, :-1], v[:, :, :-1], scale) if k.shape[2] > 1 else NOTHING
    ),
    "The mask is causal, and today every query sees every key.": (
        lambda q, k, v, scale: torch.softmax(scores(q, k, scale, 0), -1) @ v
    ),
    "Every head reads the keys of head 0: add the head's stride.": lambda q, k, v, scale: attention(
        q, first_heads(k), v, scale
    ),
    "The keys are read with the strides of the queries: k has its own.": lambda q, k, v, scale: attention(
        q, through(q.stride(), k), v, scale
    ),
    "Every head reads the values of head 0: add the head's stride.": lambda q, k, v, scale: attention(
        q, k, first_heads(v), scale
    ),
    **{
        f"The last, partial block of keys is left out, if blocks are {n}: go on while a key is left.": (
            of_whole_blocks(n)
        )
        for n in BLOCKS
    },
    **{
        f"Every block of {n} weights meets the first {n} values: move the pointer on.": first_values(n)
        for n in BLOCKS
    },
    **{
        f"Only the last block of {n} keys reaches the result: add to the accumulator.": last_values(n)
        for n in BLOCKS
    },
    **{
        f"Lanes past the last key count with score 0, in tiles of {n}: exp(0) is 1. They need -inf.": (
            with_tail(n)
        )
        for n in BLOCKS
    },
    **{
        f"The weights are divided by the sum of the last block of {n} alone: add up those of all.": last_sum(
            n
        )
        for n in BLOCKS
    },
    **{told: wrong for n in BLOCKS for told, wrong in of_tiles(n).items()},
    "The keys are added up where the values belong.": lambda q, k, v, scale: attention(q, k, k, scale),
    "The values are taken for the keys.": lambda q, k, v, scale: attention(q, v, v, scale),
    "Keys and values have changed places.": lambda q, k, v, scale: attention(q, v, k, scale),
}

OF_BYTES = {
    "The bytes are counted in elements: multiply by itemsize.": lambda S, D, itemsize: 4 * S * D + 4 * S * S,
    "Scores and weights are S x S both, and each is written once and read once: count four passes.": (
        lambda S, D, itemsize: itemsize * (4 * S * D + 2 * S * S)
    ),
    "Scores and weights are written and then read again: count the reads too.": (
        lambda S, D, itemsize: itemsize * (4 * S * D + S * S)
    ),
    "q, k, v and o have S x D elements each, and must be counted too.": (
        lambda S, D, itemsize: itemsize * 4 * S * S
    ),
    "Only q, k, v and o are counted: scores and weights pass through memory as well.": (
        lambda S, D, itemsize: itemsize * 4 * S * D
    ),
    "o is written: count four tensors of S x D.": lambda S, D, itemsize: itemsize * (3 * S * D + 4 * S * S),
}
