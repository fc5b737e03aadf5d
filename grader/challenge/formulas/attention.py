"""Attention: softmax(q kᵀ · scale) v over the keys that a query sees, and its log-sum-exp.

q is [..., Sq, D], k and v are [..., Sk, D], scores [..., Sq, Sk], lse [..., Sq].

Source: Vaswani et al., Attention Is All You Need (2017, arXiv:1706.03762), equation 1. One lse in the place
of a maximum and a sum: Dao, FlashAttention-2 (2023, arXiv:2307.08691), algorithm 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

LOG2_E = math.log2(math.e)

Tensors = tuple[Tensor, ...]
Shift = Callable[[int], int | None]


def unmoved(last: int) -> int | None:
    """The causal limit where it should be."""
    return last


def diagonal(q: Tensor, k: Tensor, causal: bool, shift: Shift = unmoved) -> int | None:
    """How far past its own number a query sees: query i keys up to i + Sk - Sq; None where it sees all.

    The last query sees all keys. Source: FlashAttention's repository, from version 2.1 on.

    Args:
        shift: where a wrong mask has the limit, from Sk - Sq; None hides nothing.
    """
    return shift(k.shape[-2] - q.shape[-2]) if causal else None


def visible(q: Tensor, k: Tensor, last: int | None) -> Tensor:
    """Which keys each query sees, bool [Sq, Sk]: query i those up to i + last, or all."""
    every = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device)
    return every if last is None else every.tril(last)


def hidden(s: Tensor, last: int | None) -> Tensor:
    """Scores with -inf where the key's number is more than the query's plus `last`."""
    if last is None:
        return s
    return s.masked_fill(~torch.ones_like(s, dtype=torch.bool).tril(last), -math.inf)


def scores(q: Tensor, k: Tensor, scale: float, last: int | None) -> Tensor:
    """q kᵀ · scale, with -inf for the keys that are not seen."""
    return hidden(q @ k.mT * scale, last)


def unnormalized(q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:
    """(q kᵀ · scale) v: attention without its softmax."""
    return (q @ k.mT * scale) @ v


def softmax(s: Tensor, seen: Tensor, dim: int = -1) -> Tensor:
    """Over the keys that are seen; all 0 where that is none."""
    p = torch.softmax(s.masked_fill(~seen, -torch.inf), dim)
    return p.masked_fill(~seen.any(dim, keepdim=True), 0.0)


def attention(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool = False) -> Tensor:
    """In three steps, every score stored: [..., Sq, D] in q's dtype."""
    return softmax(q @ k.mT * scale, visible(q, k, diagonal(q, k, causal))) @ v


def attention_lse(q: Tensor, k: Tensor, scale: float, causal: bool) -> Tensor:
    """The logarithm of the sum behind each query's softmax, [..., Sq]; -inf where it sees no key."""
    return torch.logsumexp(scores(q, k, scale, diagonal(q, k, causal)), dim=-1)


def weights(s: Tensor, lse: Tensor) -> Tensor:
    """exp(s - lse), and 0 in rows that see no key, whose lse is -inf."""
    return torch.exp(s - torch.where(lse == -math.inf, 0.0, lse)[..., None])


def weigh(s: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """o and lse from the scores, in their dtype. p is rounded to v's dtype, as the matrix units ask for."""
    lse = torch.logsumexp(s, dim=-1)
    return weights(s, lse).to(v.dtype).to(s.dtype) @ v.to(s.dtype), lse


def forward(q: Tensor, k: Tensor, v: Tensor, scale: float, last: int | None) -> tuple[Tensor, Tensor]:
    """o in q's dtype and lse in fp32 or better, by sums in fp32 or better; every score is stored."""
    wide = torch.promote_types(q.dtype, torch.float32)
    o, lse = weigh(scores(q.to(wide), k.to(wide), scale, last), v)
    return o.to(q.dtype), lse


def by_head(function: Callable[..., Tensors], shift: Shift = unmoved) -> Callable[..., Tensors]:
    """`function(*tensors, scale, last)` of one head, for all of them: one at a time, since S × S is much.

    Args:
        shift: where a wrong mask has the causal limit, from Sk - Sq.

    Returns:
        A function of (q, k, …, scale, causal), where q, k and the other tensors are [B, H, …].
    """

    def of_all(*arguments: Any) -> Tensors:
        *tensors, scale, causal = arguments
        q, k = tensors[:2]
        last = diagonal(q, k, causal, shift)
        each = [function(*x, scale, last) for x in zip(*(y.flatten(0, 1) for y in tensors), strict=True)]
        outputs = (torch.stack(heads) for heads in zip(*each, strict=True))
        return tuple(output.view(*q.shape[:2], *output.shape[1:]) for output in outputs)

    return of_all
