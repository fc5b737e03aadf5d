"""What a learner may have computed on day 27 in the place of attention."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.challenge.formulas.attention import Shift, attention, diagonal, softmax, visible
from grader.challenge.formulas.block_bounds import BLOCKS, lanes, whole_blocks
from grader.challenge.formulas.stride_suspects import first_heads, through


def seen_by(q: torch.Tensor, k: torch.Tensor, causal: bool) -> torch.Tensor:
    return visible(q, k, diagonal(q, k, causal))


def limited(shift: Shift) -> Callable[..., torch.Tensor]:
    """Attention whose causal limit is moved from Sk - Sq to shift(Sk - Sq)."""
    return lambda q, k, v, scale, causal: (
        softmax(q @ k.mT * scale, visible(q, k, diagonal(q, k, causal, shift))) @ v
    )


def turned_mask(q, k, v, scale, causal) -> torch.Tensor:
    last = k.shape[2] - q.shape[2] - 1
    return softmax(q @ k.mT * scale, ~visible(q, k, last) if causal else visible(q, k, None)) @ v


def hidden_late(q, k, v, scale, causal) -> torch.Tensor:
    return (torch.softmax(q @ k.mT * scale, -1) * seen_by(q, k, causal)) @ v


def hidden_by_zero(q, k, v, scale, causal) -> torch.Tensor:
    return torch.softmax(q @ k.mT * scale * seen_by(q, k, causal), -1) @ v


def hidden_by_a_number(q, k, v, scale, causal) -> torch.Tensor:
    return torch.softmax((q @ k.mT * scale).masked_fill(~seen_by(q, k, causal), -1e9), -1) @ v


def unguarded(q, k, v, scale, causal) -> torch.Tensor:
    return torch.softmax((q @ k.mT * scale).masked_fill(~seen_by(q, k, causal), -torch.inf), -1) @ v


def rounded_scores(q, k, v, scale, causal) -> torch.Tensor:
    return softmax((q @ k.mT * scale).half().double(), seen_by(q, k, causal)) @ v


def unshifted(scores: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    e = torch.exp(scores.float()).double()
    total = e.sum(-1, keepdim=True)
    return (e / total.masked_fill(total == 0, 1.0)) @ v


def overflowing(q, k, v, scale, causal) -> torch.Tensor:
    """No maximum is subtracted; where no score is large enough to show that, what is right."""
    scores = (q @ k.mT * scale).masked_fill(~seen_by(q, k, causal), -torch.inf)
    large = bool(scores.float().exp().isinf().any())
    return unshifted(scores, v) if large else attention(q, k, v, scale, causal)


def underflowing(q, k, v, scale, causal) -> torch.Tensor:
    """A maximum below 0 is not subtracted."""
    scores = (q @ k.mT * scale).masked_fill(~seen_by(q, k, causal), -torch.inf)
    return unshifted(scores - scores.amax(-1, keepdim=True).clamp(min=0), v)


def undivided(q, k, v, scale, causal) -> torch.Tensor:
    scores = (q @ k.mT * scale).masked_fill(~seen_by(q, k, causal), -torch.inf)
    return torch.exp(scores - scores.amax(-1, keepdim=True).clamp(min=-1e30)) @ v


def down_the_columns(scores: int) -> Callable[..., torch.Tensor]:
    """A softmax of each key over the rows of a tile of so many scores, the rows of all heads in one list."""

    def wrong(q, k, v, scale, causal) -> torch.Tensor:
        s = q @ k.mT * scale
        seen = seen_by(q, k, causal).expand_as(s)
        rows = max(scores // lanes(k.shape[2]), 1)
        tiles = zip(s.flatten(0, 2).split(rows), seen.flatten(0, 2).split(rows), strict=True)
        return torch.cat([softmax(*tile, -2) for tile in tiles]).view_as(s) @ v

    return wrong


def of_whole_blocks(block: int) -> Callable[..., torch.Tensor]:
    """Attention whose weighted sum ends with the last whole block of keys."""

    def wrong(q, k, v, scale, causal) -> torch.Tensor:
        end = whole_blocks(k.shape[2], block)
        return softmax(q @ k.mT * scale, seen_by(q, k, causal))[..., :end] @ v[:, :, :end]

    return wrong


def without_last(q, k, v, scale, causal) -> torch.Tensor:
    early = torch.arange(k.shape[2], device=k.device) < k.shape[2] - 1
    return softmax(q @ k.mT * scale, seen_by(q, k, causal) & early) @ v


def without_last_value(q, k, v, scale, causal) -> torch.Tensor:
    return softmax(q @ k.mT * scale, seen_by(q, k, causal))[..., :-1] @ v[:, :, :-1]


def first_values(block: int) -> Callable[..., torch.Tensor]:
    """Attention whose every block of keys is given the values of the first."""
    return lambda q, k, v, scale, causal: attention(
        q, k, v[:, :, torch.arange(k.shape[2]) % block], scale, causal
    )


TILES = (1024, 2048, 4096, 8192, 16384)  # scores that a program may hold
SCALE = "Scores are q · k · scale, with the scale once."
MASK = "The causal mask is off: query i sees keys up to i + Sk - Sq."
NONE = "A query that sees no key must give 0."

SUSPECTS = {
    f"The scale is missing. {SCALE}": lambda q, k, v, scale, causal: attention(q, k, v, 1.0, causal),
    f"The scale is applied twice. {SCALE}": lambda q, k, v, scale, causal: attention(
        q, k, v, scale * scale, causal
    ),
    f"Scores are divided by the scale. {SCALE}": lambda q, k, v, scale, causal: attention(
        q, k, v, 1 / scale, causal
    ),
    "causal is ignored: later keys take part.": lambda q, k, v, scale, causal: attention(
        q, k, v, scale, False
    ),
    "Keys are hidden even where causal is False.": lambda q, k, v, scale, causal: attention(
        q, k, v, scale, True
    ),
    f"{MASK} Yours is aligned at the top left, keys up to i.": limited(lambda last: 0),
    f"{MASK} Yours shifts the other way, by Sq - Sk.": limited(lambda last: -last),
    f"{MASK} Yours ends one key early: a query sees its own key too.": limited(lambda last: last - 1),
    f"{MASK} Yours goes one key too far.": limited(lambda last: last + 1),
    f"{MASK} Yours hides the keys before and shows those after.": turned_mask,
    "The mask comes after the softmax: hidden keys still count in its sum. Hide the scores, with -inf.": (
        hidden_late
    ),
    "Hidden keys have a score of 0, and exp(0) is 1: they take part. Hide them with -inf.": hidden_by_zero,
    f"{NONE} Yours gives a mean of v: if all scores are the same large negative number, all count alike.": (
        hidden_by_a_number
    ),
    f"{NONE} Yours gives NaN: -inf - (-inf), or 0 / 0.": unguarded,
    "The scores are rounded to fp16, which has only Inf past 65504: keep them in fp32, whatever q is.": (
        rounded_scores
    ),
    "Large scores overflow: exp() of them is Inf, and Inf / Inf is NaN. Subtract the row's maximum first.": (
        overflowing
    ),
    "Scores far below 0 underflow: exp() of all of them is 0, and so is their sum. Subtract the row's own "
    "maximum first, though it is below 0.": underflowing,
    "The last key is left out: a mask or a range ends one too early.": without_last,
    "The last key is left out of the weighted sum: a mask or a range ends one too early.": without_last_value,
    "The weights are not divided by their sum.": undivided,
    "There is no softmax: the scores themselves weigh v.": lambda q, k, v, scale, causal: (
        (q @ k.mT * scale * seen_by(q, k, causal)) @ v
    ),
    "The softmax runs over the queries: each row of scores, over the keys, must sum to 1.": (
        lambda q, k, v, scale, causal: softmax(q @ k.mT * scale, seen_by(q, k, causal), -2) @ v
    ),
    **{
        "The softmax runs over the queries of a tile: each row of scores, over the keys, must sum to 1. "
        f"(Tiles of {n} scores.)": down_the_columns(n)
        for n in TILES
    },
    "Every head reads the keys of head 0: add the head's stride.": lambda q, k, v, scale, causal: attention(
        q, first_heads(k), v, scale, causal
    ),
    "The keys are read with the strides of the queries: k has its own.": lambda q, k, v, scale, causal: (
        attention(q, through(q.stride(), k), v, scale, causal)
    ),
    "Every head reads the values of head 0: add the head's stride.": lambda q, k, v, scale, causal: attention(
        q, k, first_heads(v), scale, causal
    ),
    "Every head reads the queries of head 0: add the head's stride.": lambda q, k, v, scale, causal: (
        attention(first_heads(q), k, v, scale, causal)
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
    "The keys are added up where the values belong.": lambda q, k, v, scale, causal: attention(
        q, k, k, scale, causal
    ),
    "The values are taken for the keys.": lambda q, k, v, scale, causal: attention(q, v, v, scale, causal),
    "Keys and values have changed places.": lambda q, k, v, scale, causal: attention(q, v, k, scale, causal),
}
