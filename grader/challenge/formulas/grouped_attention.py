"""Attention with grouped heads, and its gradients; what a kernel may do otherwise is a rule.

q is [B, Hq, Sq, D], k and v are [B, Hk, Sk, D]: query head h reads key head h // (Hq // Hk).

Source: Ainslie et al., GQA (2023, arXiv:2305.13245), section 2.2; the formulas are those of days 32 to 34.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from grader.challenge.formulas.attention import Shift, diagonal, scores, unmoved, weigh, weights

Three = tuple[Tensor, Tensor, Tensor]


class Rules(NamedTuple):
    """Attention and its gradients, head by head; what a kernel may do otherwise is a field.

    Attributes:
        reads: the key head that query head h reads, from h, the size of a group, and the number of key heads.
        scaled: the factor of the scores, from the scale.
        shift: query i sees keys up to i + shift(Sk - Sq); all if it is None.
        members: how often member 0, 1, … of a group of that size counts in dk and dv.
        grads: what becomes of dq, dk and dv, from them and the scale.
        delta: what is subtracted of delta in ds.
        back: the rules that hold in the backward pass, if they are others.
    """

    reads: Callable[[int, int, int], int] = lambda h, group, heads: h // group
    scaled: Callable[[float], float] = lambda scale: scale
    shift: Shift = unmoved
    members: Callable[[int, int], float] = lambda member, group: 1.0
    grads: Callable[[Tensor, Tensor, Tensor, float], Three] = lambda dq, dk, dv, scale: (dq, dk, dv)
    delta: float = 1.0
    back: Any = None

    def __call__(self, q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool) -> Tensor:
        """o, in q's shape and dtype."""
        o: Tensor = _Attention.apply(q, k, v, scale, causal, self)  # type: ignore[no-untyped-call]
        return o

    def last(self, q: Tensor, k: Tensor, causal: bool) -> int | None:
        """The causal limit of these rules."""
        return diagonal(q, k, causal, self.shift)

    def heads(self, q: Tensor, k: Tensor) -> list[tuple[int, int, int, int]]:
        """Batch, query head, the key head that it reads, and which of its group it is; one at a time."""
        group = q.shape[1] // k.shape[1]
        every = [(b, h) for b in range(q.shape[0]) for h in range(q.shape[1])]
        return [(b, h, self.reads(h, group, k.shape[1]), h % group) for b, h in every]


class _Attention(torch.autograd.Function):
    """No scores are kept: those of 64 heads would be gigabytes."""

    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool, rules: Rules
    ) -> Tensor:
        wide = torch.promote_types(q.dtype, torch.float32)
        last = rules.last(q, k, causal)
        o, lse = torch.empty_like(q, dtype=wide), q.new_empty(q.shape[:3], dtype=wide)
        for b, h, kh, _ in rules.heads(q, k):
            s = scores(q[b, h].to(wide), k[b, kh].to(wide), rules.scaled(scale), last)
            o[b, h], lse[b, h] = weigh(s, v[b, kh])
        o = o.to(q.dtype)
        ctx.save_for_backward(q, k, v, o, lse)
        ctx.rest = scale, causal, rules.back or rules
        return o.clone(memory_format=torch.contiguous_format)

    @staticmethod
    def backward(ctx: Any, do: Tensor) -> tuple[Tensor | None, ...]:
        (q, k, v, o, lse), (scale, causal, rules) = ctx.saved_tensors, ctx.rest
        wide = lse.dtype
        last = rules.last(q, k, causal)
        grads = [torch.zeros_like(x, dtype=wide) for x in (q, k, v)]

        for b, h, kh, member in rules.heads(q, k):
            some = (q[b, h], k[b, kh], v[b, kh], o[b, h], do[b, h])
            q1, k1, v1, o1, do1 = (x.to(wide) for x in some)
            factor = rules.scaled(scale)
            p = weights(scores(q1, k1, factor, last), lse[b, h])
            delta = rules.delta * (o1 * do1).sum(dim=-1, keepdim=True)
            dq, dk, dv = _gradients(q1, k1, v1, o1, do1, p, scale=factor, delta=delta, dtype=q.dtype)
            counts = rules.members(member, q.shape[1] // k.shape[1])
            grads[0][b, h] = dq
            grads[1][b, kh] += counts * dk
            grads[2][b, kh] += counts * dv
        grads = rules.grads(*grads, scale)
        return *(grad.to(x.dtype) for grad, x in zip(grads, (q, k, v), strict=True)), None, None, None


def _gradients(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    do: Tensor,
    p: Tensor,
    *,
    scale: float,
    delta: Tensor,
    dtype: torch.dtype,
) -> Three:
    """dq, dk and dv of one head; exact in float64, else as far off as a good kernel in dtype may be."""
    dp = do @ v.mT
    if q.dtype == torch.float64:
        ds = p * (dp - delta)
    else:
        # The yardstick. Few keys may have luck with their rounding errors, and where dp ≈ delta little else
        # is left. So it shows large ones: those of o, of sums in another order, and those of each p and ds.
        off = torch.finfo(dtype).eps / 2 * (o * do).norm(dim=-1, keepdim=True)
        off = off + 3 * torch.finfo(q.dtype).eps * (do.abs() @ v.abs().mT)
        row, column = (torch.arange(n, device=q.device) for n in p.shape)
        rounding = 1 + torch.finfo(dtype).eps * (1 + (row[:, None] + column) % 2 / 2)
        difference = dp - (p * dp).sum(dim=-1, keepdim=True)
        ds = p * (difference + off.copysign(difference)) * rounding
        p = p * rounding
    return ds @ k * scale, ds.mT @ q * scale, p.mT @ do
