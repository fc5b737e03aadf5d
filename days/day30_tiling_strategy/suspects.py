"""What a learner may have computed on day 30 in the place of (q kᵀ · scale) v."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.challenge.formulas.attention import unnormalized
from grader.challenge.formulas.block_bounds import BLOCKS, last_block, whole_blocks
from grader.challenge.formulas.stride_suspects import with_heads_of

SIZES = BLOCKS[::-1]
Wrong = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, float], torch.Tensor]


def of_keys(k_rows: Callable[[int], torch.Tensor], v_rows: Callable[[int], torch.Tensor]) -> Wrong:
    """The product of someone who takes these rows of k and these of v; each is asked with Sk."""
    return lambda q, k, v, scale: unnormalized(
        q, k[..., k_rows(k.shape[2]), :], v[..., v_rows(k.shape[2]), :], scale
    )


def of_tiles(block: int) -> dict[str, Wrong]:
    """What goes wrong from the second tile of keys on, for a kernel that takes so many at a time."""

    def last(length: int) -> torch.Tensor:
        return torch.arange(last_block(length, block), length)

    def whole(length: int) -> torch.Tensor:
        return torch.arange(whole_blocks(length, block))

    def every_other(length: int) -> torch.Tensor:
        return torch.tensor([key for key in range(length) if key // block % 2 == 0], dtype=torch.int64)

    def first_again(length: int) -> torch.Tensor:
        return torch.arange(length) % block

    def doubled(length: int) -> torch.Tensor:
        """How often a key counts if each tile doubles what the tiles before gave."""
        tile = torch.arange(length) // block
        return 2.0 ** ((length - 1) // block - tile)

    return {
        f"Only the last tile of {block} keys counts: add its product to the sum of the tiles before.": (
            of_keys(last, last)
        ),
        f"Only the first {block} keys count: the others need more turns of the loop.": of_keys(
            lambda length: torch.arange(min(block, length)), lambda length: torch.arange(min(block, length))
        ),
        f"Every second tile of {block} keys is skipped: the loop's step is twice the tile.": of_keys(
            every_other, every_other
        ),
        f"The sum so far is added twice with each tile of {block} keys: by tl.dot, and once more by +=.": (
            lambda q, k, v, scale: unnormalized(q, k, v * doubled(k.shape[2])[:, None].to(v), scale)
        ),
        f"The last, partial tile of keys is left out: only whole tiles of {block} count.": of_keys(
            whole, whole
        ),
        f"k stands still: each tile of {block} values is weighed with the scores of the first keys.": of_keys(
            first_again, torch.arange
        ),
        f"v stands still: the scores of each tile of {block} keys weigh the first values.": of_keys(
            torch.arange, first_again
        ),
    }


def of_dims(width: int) -> Wrong:
    return lambda q, k, v, scale: unnormalized(q[..., :width], k[..., :width], v, scale)


def as_bshd(o: torch.Tensor) -> torch.Tensor:
    """What stands in o if it is written with the heads of a token side by side."""
    return o.transpose(1, 2).contiguous().view(o.shape)


SUSPECTS: dict[str, Wrong] = {
    "The scale is missing: the scores are multiplied by it before they meet v.": (
        lambda q, k, v, scale: (q @ k.mT) @ v
    ),
    "The scale is applied twice: once to q or to the scores is enough.": (
        lambda q, k, v, scale: unnormalized(q, k, v, scale * scale)
    ),
    "The scores are divided by the scale: multiply.": lambda q, k, v, scale: unnormalized(q, k, v, 1 / scale),
    "A softmax is taken of the scores: today there is none.": (
        lambda q, k, v, scale: torch.softmax(q @ k.mT * scale, dim=-1) @ v
    ),
    "Every head reads the keys of head 0: their pointers need the head's stride.": (
        lambda q, k, v, scale: unnormalized(q, k[:, :1], v, scale)
    ),
    "Every head reads the values of head 0: their pointers need the head's stride.": (
        lambda q, k, v, scale: unnormalized(q, k, v[:, :1], scale)
    ),
    "Every sequence reads the keys of sequence 0: their pointers need the batch stride.": (
        lambda q, k, v, scale: unnormalized(q, k[:1], v, scale)
    ),
    "Every sequence reads the values of sequence 0: their pointers need the batch stride.": (
        lambda q, k, v, scale: unnormalized(q, k, v[:1], scale)
    ),
    "The heads of k are found with the strides of q: k has its own, and so has v.": (
        lambda q, k, v, scale: unnormalized(q, with_heads_of(q, k), v, scale)
    ),
    "The heads of v are found with the strides of q: v has its own, and so has k.": (
        lambda q, k, v, scale: unnormalized(q, k, with_heads_of(q, v), scale)
    ),
    "The result is written as [B, S, H, D], the heads of a token side by side: it is [B, H, Sq, D].": (
        lambda q, k, v, scale: as_bshd(unnormalized(q, k, v, scale))
    ),
    "The keys come one later than their values, or one earlier: the offsets of k and v differ.": (
        lambda q, k, v, scale: unnormalized(q, k.roll(1, dims=2), v, scale)
    ),
    "The last key is left out: a mask or a range ends one too early.": of_keys(
        lambda length: torch.arange(length)[:-1], lambda length: torch.arange(length)[:-1]
    ),
    "The keys are taken for the values.": lambda q, k, v, scale: unnormalized(q, k, k, scale),
    "The values are taken for the keys.": lambda q, k, v, scale: unnormalized(q, v, v, scale),
    "Keys and values have changed places.": lambda q, k, v, scale: unnormalized(q, v, k, scale),
    "Only the first Sq keys count: the loop over keys ends at Sk.": (
        lambda q, k, v, scale: unnormalized(q, k[:, :, : q.shape[2]], v[:, :, : q.shape[2]], scale)
    ),
    **{f"Only the first {w} dimensions of q and k enter the scores.": of_dims(w) for w in (16, 32, 64)},
    **{told: wrong for block in SIZES for told, wrong in of_tiles(block).items()},
}
