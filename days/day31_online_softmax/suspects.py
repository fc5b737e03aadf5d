"""What a learner may have computed on day 31 in the place of the logsumexp of scores."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from grader.challenge.formulas.attention import LOG2_E, Shift, attention_lse, diagonal, scores
from grader.challenge.formulas.block_bounds import BLOCKS, whole_blocks
from grader.challenge.formulas.stride_suspects import with_heads_of

SIZES = BLOCKS[::-1]
Wrong = Callable[[torch.Tensor, torch.Tensor, float, bool], torch.Tensor]


def rows(q: torch.Tensor, k: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
    return scores(q, k, scale, diagonal(q, k, causal))


def lse(s: torch.Tensor) -> torch.Tensor:
    return torch.logsumexp(s, dim=-1)


def of_scores(wrong: Callable[[torch.Tensor], torch.Tensor]) -> Wrong:
    """What becomes of the right scores in the hands of someone who does this with them."""
    return lambda q, k, scale, causal: wrong(rows(q, k, scale, causal))


def of_mask(shift: Shift) -> Wrong:
    """The logsumexp of someone whose causal limit is shift(Sk - Sq)."""
    return lambda q, k, scale, causal: lse(scores(q, k, scale, diagonal(q, k, causal, shift)))


def flipped(q: torch.Tensor, k: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
    s = scores(q, k, scale, None)
    if not causal:
        return lse(s)
    earlier = torch.ones(s.shape[-2:], dtype=torch.bool, device=s.device).tril(k.shape[2] - q.shape[2] - 1)
    return lse(s.masked_fill(earlier, -math.inf))


def masked_before_scale(q: torch.Tensor, k: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
    """-inf behind the last key too, if that ends no tile; +inf minus +inf is NaN."""
    tail = min(k.shape[2] % 16, 1)
    s = torch.nn.functional.pad(rows(q, k, 1.0, causal), (0, tail), value=-math.inf) * scale
    return lse(s).masked_fill((s == math.inf).any(dim=-1), math.nan)


def largest(s: torch.Tensor) -> torch.Tensor:
    """Of each row; -inf where there are no keys."""
    return torch.nn.functional.pad(s, (0, 1), value=-math.inf).amax(dim=-1)


def finite(top: torch.Tensor) -> torch.Tensor:
    """What is subtracted from each row: its maximum, 0 where it sees no key."""
    return top.nan_to_num(neginf=0.0)[..., None]


def base_2_sum(s: torch.Tensor) -> torch.Tensor:
    top = largest(s)
    return top + torch.log2(torch.exp(s - finite(top)).sum(dim=-1))


def exp2_for_exp(s: torch.Tensor) -> torch.Tensor:
    top = largest(s)
    return top + torch.log(torch.exp2(s - finite(top)).sum(dim=-1))


def unscaled(s: torch.Tensor, block: int) -> torch.Tensor:
    """The sum so far stays as it is when the maximum rises."""
    top, total = largest(s[..., :0]), s[..., :0].sum(dim=-1)
    for tile in s.split(block, dim=-1):
        top = torch.maximum(top, largest(tile))
        total = total + torch.exp(tile - top.nan_to_num(neginf=0.0)[..., None]).sum(dim=-1)
    return top + torch.log(total)


def turned_over(s: torch.Tensor, block: int) -> torch.Tensor:
    """The sum so far is multiplied by the inverse of what it should be."""
    top, total = largest(s[..., :0]), s[..., :0].sum(dim=-1)
    for tile in s.split(block, dim=-1):
        new = torch.maximum(top, largest(tile))
        alpha = torch.where(top == -math.inf, 1.0, torch.exp(new - top))
        total = total * alpha + torch.exp(tile - new.nan_to_num(neginf=0.0)[..., None]).sum(dim=-1)
        top = new
    return top + torch.log(total)


def all_shrunk(s: torch.Tensor, block: int) -> torch.Tensor:
    """A tile's own terms are rescaled, too; those of the first tile by exp(-inf)."""
    top, total = largest(s[..., :0]), s[..., :0].sum(dim=-1)
    for tile in s.split(block, dim=-1):
        new = torch.maximum(top, largest(tile))
        shift = new.nan_to_num(neginf=0.0)
        total = (total + torch.exp(tile - shift[..., None]).sum(dim=-1)) * torch.exp(top - shift)
        top = new
    return top + torch.log(total)


def forgetful(s: torch.Tensor, block: int) -> torch.Tensor:
    """Maximum and sum start anew with each tile."""
    return lse(s.split(block, dim=-1)[-1])


def last_maximum(s: torch.Tensor, block: int) -> torch.Tensor:
    """The sum is moved to the maximum of each tile, also where that is -inf."""
    top, total = largest(s[..., :0]), s[..., :0].sum(dim=-1)
    for tile in s.split(block, dim=-1):
        shift = largest(tile).nan_to_num(neginf=0.0)
        total = total * torch.exp(top - shift) + torch.exp(tile - shift[..., None]).sum(dim=-1)
        top = largest(tile)
    return top + torch.log(total)


def ending(first_unread: Callable[[torch.Tensor, int], torch.Tensor], BLOCK_M: int, BLOCK_N: int) -> Wrong:
    """The logsumexp of someone whose loop, where causal, ends with the tile of the key before this one.

    `first_unread` gets the number of each query's tile and Sk - Sq.
    """

    def wrong(q: torch.Tensor, k: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
        s = rows(q, k, scale, causal)
        if not causal:
            return lse(s)
        tile = torch.arange(s.shape[2], device=s.device) // BLOCK_M
        end = first_unread(tile, s.shape[3] - s.shape[2]).clamp(min=0)
        end = (end + BLOCK_N - 1) // BLOCK_N * BLOCK_N
        return lse(s.masked_fill(torch.arange(s.shape[3], device=s.device) >= end[:, None], -math.inf))

    return wrong


def before_last(BLOCK_M: int) -> Callable[[torch.Tensor, int], torch.Tensor]:
    return lambda tile, offset: (tile + 1) * BLOCK_M + offset - 1


def of_ends(BLOCK_M: int, BLOCK_N: int) -> dict[str, Wrong]:
    tiles = f"(as with tiles of {BLOCK_M} queries and {BLOCK_N} keys)"
    return {
        f"The loop over keys ends with key i for query i, but that sees keys up to i + Sk - Sq {tiles}.": (
            ending(lambda tile, offset: (tile + 1) * BLOCK_M, BLOCK_M, BLOCK_N)
        ),
        f"The loop ends with the keys of the tile's first query: its last one sees more {tiles}.": (
            ending(lambda tile, offset: tile * BLOCK_M + 1 + offset, BLOCK_M, BLOCK_N)
        ),
    }


def of_dims(width: int) -> Wrong:
    return lambda q, k, scale, causal: attention_lse(q[..., :width], k[..., :width], scale, causal)


def with_tail(q: torch.Tensor, k: torch.Tensor, scale: float, causal: bool, block: int) -> torch.Tensor:
    """Lanes past Sk count with score 0, unless a causal mask hides them."""
    s = rows(q, k, scale, causal)
    return lse(torch.nn.functional.pad(s, (0, 0 if causal else -s.shape[-1] % block)))


def of_tiles(block: int) -> dict[str, Wrong]:
    return {
        f"Lanes past the last key count with score 0, in tiles of {block}: exp(0) is 1. They need -inf.": (
            lambda q, k, scale, causal: with_tail(q, k, scale, causal, block)
        ),
        f"The sum is not rescaled when a tile of {block} keys brings a larger maximum.": of_scores(
            lambda s: unscaled(s, block)
        ),
        f"The rescaling goes the wrong way, in tiles of {block} keys: the old sum must shrink.": of_scores(
            lambda s: turned_over(s, block)
        ),
        f"The maximum is that of the last tile of {block} keys: keep the larger of it and the one so far.": (
            of_scores(lambda s: last_maximum(s, block))
        ),
        f"Only the last tile of {block} keys counts: carry maximum and sum along.": of_scores(
            lambda s: forgetful(s, block)
        ),
        f"Only the first {block} keys count: the others need more turns of the loop.": of_scores(
            lambda s: lse(s[..., :block])
        ),
        f"Every second tile of {block} keys is skipped: the loop's step is twice the tile.": of_scores(
            lambda s: lse(s[..., [key for key in range(s.shape[-1]) if key // block % 2 == 0]])
        ),
        f"A tile's own terms are rescaled, too, in tiles of {block} keys: they belong to the new maximum "
        "already, and only the sum so far must shrink.": of_scores(lambda s: all_shrunk(s, block)),
        f"The first tile of {block} keys is left out.": of_scores(lambda s: lse(s[..., block:])),
        f"The last, partial tile of keys is left out: only whole tiles of {block} count.": of_scores(
            lambda s: lse(s[..., : whole_blocks(s.shape[-1], block)])
        ),
        f"k stands still: every tile of {block} keys is the first one.": (
            lambda q, k, scale, causal: attention_lse(
                q, k[:, :, torch.arange(k.shape[2], device=k.device) % block], scale, causal
            )
        ),
    }


SEES = "query i sees keys up to i + Sk - Sq, the last query all of them."
SUSPECTS: dict[str, Wrong] = {
    "The logarithm of the sum is in base 2: the natural one is tl.log.": of_scores(base_2_sum),
    "The last key is left out: a mask or a range ends one too early.": of_scores(lambda s: lse(s[..., :-1])),
    "The result is in base 2, log2(e) times too large: multiply by ln(2) at the end.": (
        lambda q, k, scale, causal: attention_lse(q, k, scale, causal) * LOG2_E
    ),
    "exp2 takes the place of exp: its argument needs a factor log2(e).": of_scores(exp2_for_exp),
    "The maximum is not added back to the logarithm.": of_scores(lambda s: lse(s) - largest(s)),
    "The result is the maximum: the logarithm of the sum is missing.": of_scores(largest),
    "The result is the sum, not its logarithm.": of_scores(lambda s: torch.exp(s).sum(dim=-1)),
    "The scale is missing.": lambda q, k, scale, causal: attention_lse(q, k, 1.0, causal),
    "The scale is applied twice.": lambda q, k, scale, causal: attention_lse(q, k, scale * scale, causal),
    "The mask comes before the scale: times a negative scale -inf is +inf, times 0 NaN.": masked_before_scale,
    f"The causal mask is aligned top-left: {SEES}": of_mask(lambda last: 0),
    f"The causal mask hides one key too many: {SEES}": of_mask(lambda last: last - 1),
    f"The causal mask shows one key too many: {SEES}": of_mask(lambda last: last + 1),
    f"The causal mask is shifted the wrong way: {SEES}": of_mask(lambda last: -last),
    "There is no causal mask: with causal=True a query sees no later keys.": of_mask(lambda last: None),
    f"The causal mask hides the earlier keys, and not the later ones: {SEES}": flipped,
    "The mask is causal even where causal=False.": lambda q, k, scale, causal: attention_lse(
        q, k, scale, True
    ),
    "The heads of k are found with the strides of q: k has its own.": (
        lambda q, k, scale, causal: attention_lse(q, with_heads_of(q, k), scale, causal)
    ),
    "Every head reads the keys of head 0: their pointers need the head's stride.": (
        lambda q, k, scale, causal: attention_lse(q, k[:, :1], scale, causal)
    ),
    "Every sequence reads the keys of sequence 0: their pointers need the batch stride.": (
        lambda q, k, scale, causal: attention_lse(q, k[:1], scale, causal)
    ),
    **{f"Only the first {w} dimensions of q and k enter the scores.": of_dims(w) for w in (16, 32, 64)},
    **{told: wrong for block in SIZES for told, wrong in of_tiles(block).items()},
    **{told: wrong for m in SIZES for n in SIZES for told, wrong in of_ends(m, n).items()},
    # It shows where a block of keys begins with that key, whatever the block.
    **{
        "The loop ends one key before the last that the tile's last query sees "
        f"(as with tiles of {m} queries).": ending(before_last(m), m, 16)
        for m in SIZES
    },
}
