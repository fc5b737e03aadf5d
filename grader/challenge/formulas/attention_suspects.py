"""What a learner may have computed in the place of attention and its log-sum-exp."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from grader.challenge.formulas.attention import LOG2_E, Tensors, by_head, forward, scores, weigh
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.split_rows_in_blocks import BLOCKS, whole_blocks
from grader.challenge.formulas.stride_variants import first_heads

attention = by_head(forward)
limited = partial(by_head, forward)  # with another causal limit than Sk - Sq


def units(o_scale: float, lse: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensors]:
    """Attention with its scale multiplied for o, and with lse from the true scores and their maximum."""

    def one(q: Tensor, k: Tensor, v: Tensor, scale: float, last: int | None) -> Tensors:
        s = scores(q, k, scale, last)
        m = s.amax(dim=-1) if len(k) else s.sum(dim=-1)
        return forward(q, k, v, scale * o_scale, last)[0], lse(s, m)

    return by_head(one)


def in_blocks(
    size: int, keep_acc: bool = False, keep_l: bool = False, whole: bool = False
) -> Callable[..., Tensors]:
    """The online softmax in blocks of `size` keys: acc or l not rescaled, or only whole blocks visited."""

    def one(q: Tensor, k: Tensor, v: Tensor, scale: float, last: int | None) -> Tensors:
        s = scores(q, k, scale, last)
        m = q.new_full((len(q), 1), torch.finfo(torch.float32).min)
        total, acc = torch.zeros_like(m), torch.zeros_like(q)
        stop = whole_blocks(len(k), size) if whole else len(k)
        for start in range(0, stop, size):
            block = s[:, start : start + size]
            m_new = torch.maximum(m, block.amax(dim=1, keepdim=True))
            p, alpha = torch.exp(block - m_new), torch.exp(m - m_new)
            total = total * (1.0 if keep_l else alpha) + p.sum(dim=1, keepdim=True)
            acc = acc * (1.0 if keep_acc else alpha) + p @ v[start : start + size]
            m = m_new
        return acc / torch.where(total == 0, 1.0, total), (m + total.log())[:, 0]

    return by_head(one)


def ending_early(block: int) -> Callable[..., Tensors]:
    """Where causal, the loop ends with the queries' block, as if Sk - Sq were 0."""

    def one(q: Tensor, k: Tensor, v: Tensor, scale: float, last: int | None) -> Tensors:
        s = scores(q, k, scale, last)
        query, key = torch.arange(len(q), device=q.device)[:, None], torch.arange(len(k), device=q.device)
        end = (query // block + 1) * block if last is not None else len(k)
        return weigh(s.masked_fill(key >= end, -math.inf), v)

    return by_head(one)


def ending_before_last(queries: int) -> Callable[..., Tensors]:
    """Where causal, the loop of a block of queries ends, in whole blocks of keys, one before the last that
    its last query sees.
    """

    def one(q: Tensor, k: Tensor, v: Tensor, scale: float, last: int | None) -> Tensors:
        s = scores(q, k, scale, last)
        query, key = torch.arange(len(q), device=q.device)[:, None], torch.arange(len(k), device=q.device)
        end = (query // queries + 1) * queries - 1 + last if last is not None else query + len(k)
        end = (end + 15) // 16 * 16  # the smallest block: it shows where one begins with that key
        return weigh(s.masked_fill(key >= end, -math.inf), v)

    return by_head(one)


def without(skips: Callable[[Tensor], Tensor]) -> Callable[..., Tensors]:
    """Attention in which these keys, of all their numbers, count for nobody."""

    def one(q: Tensor, k: Tensor, v: Tensor, scale: float, last: int | None) -> Tensors:
        skipped = skips(torch.arange(len(k), device=k.device))
        return weigh(scores(q, k, scale, last).masked_fill(skipped, -math.inf), v)

    return by_head(one)


def every_other(size: int) -> Callable[..., Tensors]:
    """Blocks 0, 2, 4, … of keys alone."""
    return without(lambda key: key // size % 2 == 1)


def first_block(size: int) -> Callable[..., Tensors]:
    """Block 0 of keys alone."""
    return without(lambda key: key >= size)


def without_last(q: Tensor, k: Tensor, v: Tensor, scale: float, last: int | None) -> Tensors:
    """One head whose last key counts for nobody."""
    early = torch.arange(len(k), device=k.device) < len(k) - 1
    return weigh(scores(q, k, scale, last).masked_fill(~early, -math.inf), v)


def rounded(q: Tensor, k: Tensor, v: Tensor, scale: float, last: int | None) -> Tensors:
    """One head whose products of q and k are rounded to q's 16 bits before they are scaled."""
    dtype = BRAIN if torch.equal(q, q.to(BRAIN).to(q.dtype)) else HALF
    s = scores(q * math.copysign(1.0, scale), k, 1.0, last)
    return weigh(s.to(dtype).to(s.dtype) * abs(scale), v)


def from_zero(empty: float) -> Callable[..., Tensors]:
    """A running maximum that starts at 0, where fp32 underflows; o is `empty` where the sum is 0."""

    def one(q: Tensor, k: Tensor, v: Tensor, scale: float, last: int | None) -> Tensors:
        s = scores(q, k, scale, last)
        m = s.amax(dim=-1).clamp(min=0) if len(k) else s.sum(dim=-1)
        p = torch.exp((s - m[:, None]).float()).to(s.dtype)
        total = p.sum(dim=-1)
        o = (p @ v / total[:, None]).masked_fill((total == 0)[:, None], empty)
        return o, m + total.log()

    return by_head(one)


def without_keys(o: float, lse: float) -> Callable[..., Tensors]:
    """Attention with these in rows that see no key."""

    def one(q: Tensor, k: Tensor, v: Tensor, scale: float, last: int | None) -> Tensors:
        right_o, right_lse = forward(q, k, v, scale, last)
        none = right_lse == -math.inf
        return right_o.masked_fill(none[:, None], o), right_lse.masked_fill(none, lse)

    return by_head(one)


def first_head(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool) -> Tensors:
    return attention(q, first_heads(k), first_heads(v), scale, causal)


ACC = "acc is not rescaled: when m rises, what acc holds must be multiplied by alpha too, as l_i is. "
SUM = "l_i is not rescaled: when m rises, the sum so far must be multiplied by alpha too, as acc is. "
BOTH = "Neither acc nor l_i is rescaled: when m rises, what both hold must be multiplied by alpha. "
TAIL = "The last keys are left out: the loop visits whole blocks only. "
END = "Where causal, the loop ends with key i for query i, which sees keys up to i + Sk - Sq. "
BEFORE = "Where causal, the loop ends one key before the last that the last query of a block sees "
NONE = "Rows that see no key come out NaN; o must be 0 and lse -inf. "
LOW = "The running maximum starts at 0: if all scores are far below, exp of the distance underflows to 0. "
SUSPECTS = {
    "The scale is missing: the scores are q kᵀ · scale.": lambda q, k, v, scale, causal: attention(
        q, k, v, 1.0, causal
    ),
    "The scale is applied twice: once is enough, to q or to the scores.": lambda q, k, v, scale, causal: (
        attention(q, k, v, scale * scale, causal)
    ),
    "The scale is 1 / √D, and not the one that is passed.": lambda q, k, v, scale, causal: attention(
        q, k, v, q.shape[-1] ** -0.5, causal
    ),
    "The sign of the scale is lost.": lambda q, k, v, scale, causal: attention(q, k, v, abs(scale), causal),
    "exp2 is given plain scores: exp(x) is exp2(x · log2(e)), and log2(e) is missing.": (
        lambda q, k, v, scale, causal: attention(q, k, v, scale / LOG2_E, causal)
    ),
    "log2(e) is in the scale, and then exp is called where exp2 belongs.": units(
        LOG2_E, lambda s, m: m + torch.logsumexp((s - m[:, None]) * LOG2_E, dim=-1)
    ),
    "log2(e) is in the scale, and then exp and log are called where exp2 and log2 belong.": (
        lambda q, k, v, scale, causal: attention(q, k, v, scale * LOG2_E, causal)
    ),
    "lse is in base 2: multiply it by ln 2.": units(1.0, lambda s, m: torch.logsumexp(s, dim=-1) * LOG2_E),
    "lse adds two bases: m_i is in base 2, log(l_i) natural. Bring both to one, then to natural.": units(
        1.0, lambda s, m: m * LOG2_E + torch.logsumexp(s - m[:, None], dim=-1)
    ),
    "lse adds two bases: m_i in base 2 is multiplied by ln 2, and so is log(l_i), which was natural.": units(
        1.0, lambda s, m: m + torch.logsumexp(s - m[:, None], dim=-1) / LOG2_E
    ),
    NONE + "Both do: (-inf) - (-inf) is NaN.": without_keys(math.nan, math.nan),
    NONE + "o does: acc / l_i is 0 / 0.": without_keys(math.nan, -math.inf),
    NONE + "lse does: (-inf) - (-inf) is NaN.": without_keys(0.0, math.nan),
    "Scores are rounded to 16 bits: keep them in fp32, as tl.dot gives them.": by_head(rounded),
    LOW + "So o is 0.": from_zero(0.0),
    LOW + "So 0 is divided by 0.": from_zero(math.nan),
    "lse lacks the maximum: it is m_i + log(l_i), in one base.": units(
        1.0, lambda s, m: torch.logsumexp(s - m[:, None], dim=-1)
    ),
    "lse is the maximum alone: log(l_i) is missing.": units(1.0, lambda s, m: m),
    "The causal mask is aligned at the top left: query i sees keys up to i + Sk - Sq.": limited(lambda _: 0),
    "The causal mask hides the diagonal: query i sees key i + Sk - Sq too.": limited(lambda last: last - 1),
    "The causal mask lets one key too many through: key i + Sk - Sq is the last.": limited(
        lambda last: last + 1
    ),
    "The causal mask has Sk and Sq the wrong way round: the shift is Sk - Sq.": limited(lambda last: -last),
    "causal=True masks nothing: every query sees every key.": limited(lambda _: None),
    "Keys are masked though causal is False.": lambda q, k, v, scale, causal: attention(q, k, v, scale, True),
    "Every head reads the keys and values of head 0.": first_head,
    **{f"{ACC}(Blocks of {n} keys.)": in_blocks(n, keep_acc=True) for n in BLOCKS},
    **{f"{SUM}(Blocks of {n} keys.)": in_blocks(n, keep_l=True) for n in BLOCKS},
    **{f"{BOTH}(Blocks of {n} keys.)": in_blocks(n, keep_acc=True, keep_l=True) for n in BLOCKS},
    **{f"{END}(Blocks of {n} queries.)": ending_early(n) for n in BLOCKS},
    **{
        f"Every second block of {n} keys is skipped: the loop's step is twice the block.": every_other(n)
        for n in BLOCKS
    },
    **{
        f"Only the first {n} keys count: the others need more turns of the loop.": first_block(n)
        for n in BLOCKS
    },
    "The last key is left out: a mask or a range ends one too early.": by_head(without_last),
    **{f"{BEFORE}(as with blocks of {m} queries).": ending_before_last(m) for m in BLOCKS},
    "The keys are taken for the values.": lambda q, k, v, scale, causal: attention(q, k, k, scale, causal),
    "The values are taken for the keys.": lambda q, k, v, scale, causal: attention(q, v, v, scale, causal),
    "Keys and values have changed places.": lambda q, k, v, scale, causal: attention(q, v, k, scale, causal),
    **{f"{TAIL}(Blocks of {n} keys.)": in_blocks(n, whole=True) for n in BLOCKS},
}
