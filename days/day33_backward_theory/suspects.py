"""What a learner may have computed on day 33 in the place of delta, and of the gradient of the scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import pad

from grader.challenge.formulas.attention import LOG2_E, Shift, diagonal, scores, unmoved
from grader.challenge.formulas.attention_backward import Backward, delta_along_keys, ds_of
from grader.challenge.formulas.block_bounds import lanes


def gradient(
    formula: Callable[..., torch.Tensor] = ds_of, shift: Shift = unmoved, **changes: Any
) -> Callable[..., torch.Tensor]:
    """The gradient of the scores by another formula, another causal limit than Sk - Sq, or other changes."""

    def dscores(q, k, v, do, lse, delta, scale, causal):
        last = diagonal(q, k, causal, shift)
        return Backward(formula, **changes).of_scores(q, k, v, do, lse, delta, scale, last)[1]

    return dscores


def times_scale(q, k, v, do, lse, delta, scale, causal) -> torch.Tensor:
    return gradient()(q, k, v, do, lse, delta, scale, causal) * scale


def softmax_of_these(q, k, v, do, lse, delta, scale, causal) -> torch.Tensor:
    """What comes out if the softmax is computed anew, and lse not looked at."""
    own = torch.logsumexp(scores(q, k, scale, diagonal(q, k, causal)), dim=-1)
    return gradient()(q, k, v, do, own, delta, scale, causal)


def leaking(q, k, v, do, lse, delta, scale, causal) -> torch.Tensor:
    """Hidden weights are 0, but what is subtracted is not multiplied by them."""
    return gradient(lambda p, dp, delta: p * dp - delta[..., None])(q, k, v, do, lse, delta, scale, causal)


def without_keys(q, k, v, do, lse, delta, scale, causal) -> torch.Tensor:
    ds = gradient()(q, k, v, do, lse, delta, scale, causal)
    return ds.masked_fill((lse == -math.inf)[..., None], math.nan)


def down_the_columns(o: torch.Tensor, do: torch.Tensor) -> torch.Tensor:
    """Sums over the queries of a block, one a column of D: as many queries as columns, or they do not fit."""
    size = lanes(o.shape[-1])
    blocks = pad(o * do, (0, size - o.shape[-1])).split(size, dim=-2)
    return torch.cat([x.sum(dim=-2)[..., : x.shape[-2]] for x in blocks], dim=-1)


OF_DSCORES = {
    "The scale is missing in p = exp(q kᵀ · scale - lse).": gradient(p_scale=lambda scale: 1.0),
    "The scale is applied to ds: it belongs in p alone, and day 34 applies it to dq and dk.": times_scale,
    "delta is missing: ds is p ∘ (dp - delta).": gradient(lambda p, dp, delta: p * dp),
    "delta is added where it is subtracted: ds is p ∘ (dp - delta).": gradient(
        lambda p, dp, delta: p * (dp + delta[..., None])
    ),
    "delta is outside of the product: ds is p ∘ (dp - delta), so what is hidden is 0.": leaking,
    "The factor p is missing: ds is p ∘ (dp - delta).": gradient(
        lambda p, dp, delta: (dp - delta[..., None]).masked_fill(p == 0, 0.0)
    ),
    "ds has another sign.": gradient(lambda p, dp, delta: -ds_of(p, dp, delta)),
    "delta lies along the keys: it is one number a query, delta[:, None].": gradient(delta_along_keys),
    "dp is do kᵀ where do vᵀ belongs.": gradient(dp_from="k"),
    "Hidden entries are not 0: causal=True masks nothing.": gradient(shift=lambda last: None),
    "The causal mask is aligned at the top left: query i sees keys up to i + Sk - Sq.": gradient(
        shift=lambda last: 0
    ),
    "The causal mask hides the diagonal: query i sees key i + Sk - Sq too.": gradient(
        shift=lambda last: last - 1
    ),
    "The causal mask lets one key too many through: key i + Sk - Sq is the last.": gradient(
        shift=lambda last: last + 1
    ),
    "exp2 is called where exp belongs: scores and lse are natural.": gradient(
        p_scale=lambda scale: scale / LOG2_E, of_lse=lambda lse: lse / LOG2_E
    ),
    "log2(e) multiplies the scores and not lse: lse is natural, exp2 wants both in base 2.": gradient(
        of_lse=lambda lse: lse / LOG2_E
    ),
    "p is a softmax of these keys alone: it is exp(scores - lse), with the lse that was handed in.": (
        softmax_of_these
    ),
    "Rows that see no key give NaN: (-inf) - (-inf), or Inf · 0. All their entries are 0.": without_keys,
}

OF_DELTA = {
    "delta is summed over the queries: it is one number for each of them, summed over D.": (down_the_columns),
    "delta is Σ o ∘ o: do has no part in it.": lambda o, do: (o * o).sum(dim=-1),
    "delta is Σ do ∘ do: o has no part in it.": lambda o, do: (do * do).sum(dim=-1),
    "delta has another sign.": lambda o, do: -(o * do).sum(dim=-1),
    "delta is (Σ o) · (Σ do): multiply first, then sum.": lambda o, do: o.sum(dim=-1) * do.sum(dim=-1),
    "delta is a mean: it is the sum over D.": lambda o, do: (o * do).mean(dim=-1),
}
