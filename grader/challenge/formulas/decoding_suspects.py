"""What a learner may have computed in the place of a decoding step's attention."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grader.challenge.formulas.attention import LOG2_E
from grader.challenge.formulas.decoding import Rules, softmaxed
from grader.challenge.formulas.split_rows_in_blocks import BLOCKS, whole_blocks

Right = Rules()
FAR = -1e5  # below it lies what is tried, and above it what is told


def from_zero(s: Tensor, v: Tensor, part: int) -> Tensor:
    """A running maximum that starts at 0, where fp32 underflows."""
    p = torch.exp((s - s.amax(dim=1, keepdim=True).clamp(min=0)).float()).to(s.dtype)
    return torch.einsum("hn,hnd->hd", p, v) / p.sum(dim=1)[:, None]


def from_zero_to_zero(s: Tensor, v: Tensor, part: int) -> Tensor:
    """The same where a sum of 0 is not divided by."""
    return from_zero(s, v, part).nan_to_num(0.0)


def above(s: Tensor, v: Tensor, part: int) -> Tensor:
    """0 where all scores lie below the finite number that someone has for -inf."""
    return softmaxed(s, v, part) * (s.amax(dim=1) > FAR)[:, None]


def ending_early(block: int) -> Callable[[list[int], int, int], range]:
    """The keys of whole blocks alone."""
    return lambda lengths, i, s: range(whole_blocks(lengths[i], block))


def reached(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, scale: float) -> Tensor:
    """NaN where NaN lies behind a sequence's length."""
    o = Right(q, k, v, lengths, scale)
    for i, length in enumerate(lengths.tolist()):
        for x in (k, v):
            o[i] += 0 * x[i, length:].sum()
    return o


def unnormalised(s: Tensor, v: Tensor, part: int) -> Tensor:
    return torch.einsum("hn,hnd->hd", torch.exp(s - s.amax(dim=1, keepdim=True)), v)


def by_width(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, scale: float) -> Tensor:
    return Right(q, k, v, lengths, q.shape[-1] ** -0.5)


def one_query_a_group(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, scale: float) -> Tensor:
    """Someone who has the group's first query in all of its rows."""
    group = q.shape[1] // k.shape[2]
    return Right(q, k, v, lengths, scale)[:, ::group].repeat_interleave(group, dim=1)


def spread_out(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, scale: float) -> Tensor:
    """Someone whose groups are the query heads j, j + h_k, j + 2 h_k, …, stored side by side."""
    order = q.reshape(len(q), -1, k.shape[2], q.shape[2]).transpose(1, 2).flatten(1, 2)
    return Right(order, k, v, lengths, scale)


GROUPED: dict[str, Any] = {
    "Query head j reads key head j mod h_k: the heads of a group lie side by side, it is j // (h // h_k).": (
        Rules(reads=lambda h, group, h_k, i: h % h_k)
    ),
    "All heads of a group have the result of its first one: each row of the tile is a query of its own.": (
        one_query_a_group
    ),
    "A group's queries are taken h_k heads apart: they lie side by side.": spread_out,
}

SUSPECTS = {
    "The result is 0 everywhere: no value has been added up for it.": Rules(
        weighed=lambda s, v, part: torch.zeros_like(v[:, 0])
    ),
    "The scale is missing: the scores are q · k · scale.": Rules(scaled=lambda scale: 1.0),
    "The scale is applied twice: once is enough, to q or to the scores.": Rules(scaled=lambda x: x * x),
    "The scale is 1 / √D, and not the one that is passed.": by_width,
    "The sign of the scale is lost.": Rules(scaled=abs),
    "exp2 is given plain scores: exp(x) is exp2(x · log2(e)), and log2(e) is missing.": Rules(
        scaled=lambda scale: scale / LOG2_E
    ),
    "log2(e) is in the scale, and then exp is called where exp2 belongs.": Rules(
        scaled=lambda scale: scale * LOG2_E
    ),
    "Keys past a sequence's length are seen: sequence i has lengths[i] keys, and behind them the cache holds "
    "what it held before.": Rules(seen=lambda lengths, i, s: range(s)),
    "What lies behind a sequence's length reaches the result: it weighs 0, but 0 · NaN is NaN. Load neither "
    "k nor v there.": reached,
    "Every sequence takes the length of the first one: sequence i has lengths[i] keys.": Rules(
        seen=lambda lengths, i, s: range(lengths[0])
    ),
    "One key too many is seen: those of sequence i are 0 to lengths[i] - 1.": Rules(
        seen=lambda lengths, i, s: range(lengths[i] + 1)
    ),
    "A sequence's last key is left out: its keys are 0 to lengths[i] - 1.": Rules(
        seen=lambda lengths, i, s: range(max(lengths[i] - 1, 0))
    ),
    "A sequence's first key is left out: its keys are 0 to lengths[i] - 1.": Rules(
        seen=lambda lengths, i, s: range(1, lengths[i])
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
    "The result is not divided by the sum of the weights.": Rules(weighed=unnormalised),
    "A finite number stands for -inf, in lanes without a key or where the maximum starts: scores that all "
    "lie below it lose their weight.": Rules(weighed=above),
    "The running maximum starts at 0: if all scores are far below, exp of the distance underflows.": Rules(
        weighed=from_zero
    ),
    "A maximum of 0 comes from where nothing is, a start or a part that is not there: if all scores are far "
    "below, exp of the distance underflows.": Rules(weighed=from_zero_to_zero),
    **{
        f"The last keys are left out: only whole blocks are visited. (Blocks of {n} keys.)": Rules(
            seen=ending_early(n)
        )
        for n in BLOCKS
    },
}
