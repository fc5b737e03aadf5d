"""The gradients of attention from lse and delta, by recomputing p: dq, dk and dv of o = p v.

p = exp(s - lse), dp = do vᵀ, ds = p ∘ (dp - delta) with delta = Σ o ∘ do over D;
dq = scale · ds k, dk = scale · dsᵀ q, dv = pᵀ do.

Source: Dao et al., FlashAttention (2022, arXiv:2205.14135), appendix B.2, where delta is D, equation 4; Dao,
FlashAttention-2 (2023, arXiv:2307.08691), algorithm 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from grader.challenge.formulas.attention import hidden, weights


def same(x: Any) -> Any:
    """What is not changed."""
    return x


def delta_of(o: Tensor, do: Tensor) -> Tensor:
    """One number a query, [..., Sq]: Σ o ∘ do over D."""
    return (o * do).sum(dim=-1)


def ds_of(p: Tensor, dp: Tensor, delta: Tensor) -> Tensor:
    """The gradient of the scores, [..., Sq, Sk]; its rows sum to 0."""
    return p * (dp - delta[..., None])


def delta_along_keys(p: Tensor, dp: Tensor, delta: Tensor) -> Tensor:
    """ds where delta is loaded by the key's number; 0 past the last query."""
    more = max(p.shape[-1] - delta.shape[-1], 0)
    return p * (dp - pad(delta, (0, more))[..., None, : p.shape[-1]])


@dataclass(frozen=True)
class Backward:
    """dq, dk and dv of one head in full, every score stored; what a kernel may do otherwise is a field.

    Attributes:
        formula: ds, from p, dp and delta.
        delta: from o and do.
        p_scale: the factor of the scores, from the scale; so dq_scale, dk_scale, dv_scale of the gradients.
        of_lse: what is taken for lse, from lse.
        dp_from: dp is do times this, "v" or "k", transposed.
        dv_from: dv is this, "p" or "ds", transposed, times do.
        products: q kᵀ, from q and k.
        over_queries: which scores the loop for dk and dv visits, from query, key and the causal limit.
        over_keys: the same of the loop for dq.
    """

    formula: Callable[..., Tensor] = ds_of
    delta: Callable[[Tensor, Tensor], Tensor] = delta_of
    p_scale: Callable[[float], float] = same
    dq_scale: Callable[[float], float] = same
    dk_scale: Callable[[float], float] = same
    dv_scale: Callable[[float], float] = lambda scale: 1.0
    of_lse: Callable[[Tensor], Tensor] = same
    dp_from: str = "v"
    dv_from: str = "p"
    products: Callable[..., Tensor] = lambda q, k: q @ k.mT
    over_queries: Callable[..., Tensor | bool] = lambda i, j, last: True
    over_keys: Callable[..., Tensor | bool] = lambda i, j, last: True

    def of_scores(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        do: Tensor,
        lse: Tensor,
        delta: Tensor,
        scale: float,
        last: int | None,
    ) -> tuple[Tensor, Tensor]:
        """p and ds of any number of heads, [..., Sq, Sk], in the dtype of q, k, v and do."""
        p = weights(hidden(self.products(q, k) * self.p_scale(scale), last), self.of_lse(lse))
        return p, self.formula(p, do @ (k if self.dp_from == "k" else v).mT, delta)

    def __call__(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        o: Tensor,
        lse: Tensor,
        do: Tensor,
        scale: float,
        last: int | None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """dq, dk and dv in q's dtype. p and ds are rounded to it, as the matrix units ask for."""
        dtype, wide = q.dtype, torch.promote_types(q.dtype, torch.float32)
        q, k, v, o, do = (x.to(wide) for x in (q, k, v, o, do))
        p, ds = self.of_scores(q, k, v, do, lse, self.delta(o, do), scale, last)
        p, ds = p.to(dtype).to(wide), ds.to(dtype).to(wide)
        i, j = torch.arange(len(q), device=q.device)[:, None], torch.arange(len(k), device=q.device)
        queries, keys = self.over_queries(i, j, last), self.over_keys(i, j, last)
        dq = (ds * keys) @ k * self.dq_scale(scale)
        dk = (ds * queries).mT @ q * self.dk_scale(scale)
        dv = ((ds if self.dv_from == "ds" else p) * queries).mT @ do * self.dv_scale(scale)
        return dq.to(dtype), dk.to(dtype), dv.to(dtype)
