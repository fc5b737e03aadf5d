"""What a learner may have computed in the place of a decoding step's attention."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grader.challenge.formulas.block_bounds import BLOCKS, whole_blocks
from grader.challenge.formulas.decoding import Rules, softmaxed

Right = Rules()
FAR = -1e5  # below it lies what is tried, and above it what is told


def above(s: Tensor, v: Tensor, part: int) -> Tensor:
    """0 where all scores lie below the finite number that someone has for -inf."""
    return softmaxed(s, v, part) * (s.amax(dim=1) > FAR)[:, None]


def ending_early(block: int) -> Callable[[list[int], int, int], range]:
    """The keys of whole blocks alone."""
    return lambda lengths, i, s: range(whole_blocks(lengths[i], block))


def one_query_a_group(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, scale: float) -> Tensor:
    """Someone who has the group's first query in all of its rows."""
    group = q.shape[1] // k.shape[2]
    return Right(q, k, v, lengths, scale)[:, ::group].repeat_interleave(group, dim=1)


GROUPED: dict[str, Any] = {
    "Query head j reads key head j mod h_k: the heads of a group lie side by side, it is j // (h // h_k).": (
        Rules(reads=lambda h, group, h_k, i: h % h_k)
    ),
    "All heads of a group have the result of its first one: each row of the tile is a query of its own.": (
        one_query_a_group
    ),
}

SUSPECTS = {
    "The result is 0 everywhere: no value has been added up for it.": Rules(
        weighed=lambda s, v, part: torch.zeros_like(v[:, 0])
    ),
    "The scale is missing: the scores are q · k · scale.": Rules(scaled=lambda scale: 1.0),
    "Keys past a sequence's length are seen: sequence i has lengths[i] keys, and behind them the cache holds "
    "what it held before.": Rules(seen=lambda lengths, i, s: range(s)),
    "Every sequence takes the length of the first one: sequence i has lengths[i] keys.": Rules(
        seen=lambda lengths, i, s: range(lengths[0])
    ),
    "A sequence's last key is left out: its keys are 0 to lengths[i] - 1.": Rules(
        seen=lambda lengths, i, s: range(max(lengths[i] - 1, 0))
    ),
    "Without keys the result is NaN, and must be 0: is an empty part written, and 0 / 0 avoided?": Rules(
        empty=math.nan
    ),
    "Every head reads the keys and values of head 0.": Rules(reads=lambda h, group, h_k, i: 0 * h),
    "Every sequence reads the keys and values of the first one.": lambda q, k, v, lengths, scale: Right(
        q, k[:1].expand(k.shape), v[:1].expand(v.shape), lengths, scale
    ),
    "The keys are taken for the values.": lambda q, k, v, lengths, scale: Right(q, k, k, lengths, scale),
    "The values are taken for the keys.": lambda q, k, v, lengths, scale: Right(q, v, v, lengths, scale),
    "Keys and values have changed places.": lambda q, k, v, lengths, scale: Right(q, v, k, lengths, scale),
    "A finite number stands for -inf, in lanes without a key or where the maximum starts: scores that all "
    "lie below it lose their weight.": Rules(weighed=above),
    **{
        f"The last keys are left out: only whole blocks are visited. (Blocks of {n} keys.)": Rules(
            seen=ending_early(n)
        )
        for n in BLOCKS
    },
}
