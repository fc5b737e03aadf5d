"""What a learner may have computed in the place of attention and its log-sum-exp."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from grader.challenge.formulas.attention import LOG2_E, Tensors, by_head, forward, scores, weigh
from grader.challenge.formulas.block_bounds import BLOCKS, whole_blocks
from grader.challenge.formulas.stride_suspects import first_heads

attention = by_head(forward)
limited = partial(by_head, forward)  # with another causal limit than Sk - Sq


def with_lse(lse: Callable[[Tensor, Tensor], Tensor], o_scale: float = 1.0) -> Callable[..., Tensors]:
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


def without_keys(lse: float) -> Callable[..., Tensors]:
    """Attention with o = NaN and this lse in rows that see no key."""

    def one(q: Tensor, k: Tensor, v: Tensor, scale: float, last: int | None) -> Tensors:
        right_o, right_lse = forward(q, k, v, scale, last)
        none = right_lse == -math.inf
        return right_o.masked_fill(none[:, None], math.nan), right_lse.masked_fill(none, lse)

    return by_head(one)


def scaled(by: Callable[[Tensor, float], float]) -> Callable[..., Tensors]:
    """Attention with another scale, from q and the one that is passed."""
    return lambda q, k, v, scale, causal: attention(q, k, v, by(q, scale), causal)


def first_head(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool) -> Tensors:
    return attention(q, first_heads(k), first_heads(v), scale, causal)


ACC = "acc is not rescaled: when m rises, what acc holds must be multiplied by alpha too, as l_i is. "
SUM = "l_i is not rescaled: when m rises, the sum so far must be multiplied by alpha too, as acc is. "
BOTH = "Neither acc nor l_i is rescaled: when m rises, what both hold must be multiplied by alpha. "
TAIL = "The last keys are left out: the loop visits whole blocks only. "
END = "Where causal, the loop ends with key i for query i, which sees keys up to i + Sk - Sq. "
NONE = "Rows that see no key come out NaN; o must be 0 and lse -inf. "
SUSPECTS = {
    "The scale is missing: the scores are q kᵀ · scale.": scaled(lambda q, scale: 1.0),
    "The scale is applied twice: once is enough, to q or to the scores.": scaled(lambda q, s: s * s),
    "The scale is 1 / √D, and not the one that is passed.": scaled(lambda q, scale: q.shape[-1] ** -0.5),
    "The sign of the scale is lost.": scaled(lambda q, scale: abs(scale)),
    "exp2 is given plain scores: exp(x) is exp2(x · log2(e)), and log2(e) is missing.": (
        scaled(lambda q, scale: scale / LOG2_E)
    ),
    "log2(e) is in the scale, and then exp is called where exp2 belongs.": with_lse(
        lambda s, m: m + torch.logsumexp((s - m[:, None]) * LOG2_E, dim=-1), LOG2_E
    ),
    "lse is in base 2: multiply it by ln 2.": with_lse(lambda s, m: torch.logsumexp(s, dim=-1) * LOG2_E),
    "lse adds two bases: m_i is in base 2, log(l_i) natural. Bring both to one, then to natural.": with_lse(
        lambda s, m: m * LOG2_E + torch.logsumexp(s - m[:, None], dim=-1)
    ),
    NONE + "Both do: (-inf) - (-inf) is NaN.": without_keys(math.nan),
    NONE + "o does: acc / l_i is 0 / 0.": without_keys(-math.inf),
    "The causal mask is aligned at the top left: query i sees keys up to i + Sk - Sq.": limited(lambda _: 0),
    "The causal mask hides the diagonal: query i sees key i + Sk - Sq too.": limited(lambda last: last - 1),
    "Sk and Sq are the wrong way round: query i sees keys up to i + Sk - Sq.": limited(lambda last: -last),
    "causal=True masks nothing: every query sees every key.": limited(lambda _: None),
    "Every head reads the keys and values of head 0.": first_head,
    **{f"{ACC}(Blocks of {n} keys.)": in_blocks(n, keep_acc=True) for n in BLOCKS},
    **{f"{SUM}(Blocks of {n} keys.)": in_blocks(n, keep_l=True) for n in BLOCKS},
    **{f"{BOTH}(Blocks of {n} keys.)": in_blocks(n, keep_acc=True, keep_l=True) for n in BLOCKS},
    **{f"{END}(Blocks of {n} queries.)": ending_early(n) for n in BLOCKS},
    "Keys and values have changed places.": lambda q, k, v, scale, causal: attention(q, v, k, scale, causal),
    **{f"{TAIL}(Blocks of {n} keys.)": in_blocks(n, whole=True) for n in BLOCKS},
}
