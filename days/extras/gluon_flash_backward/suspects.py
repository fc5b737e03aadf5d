"""What a learner may have computed in the place of dq, dk and dv."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grader.challenge.formulas.attention import by_head
from grader.challenge.formulas.attention_backward import Backward
from grader.challenge.formulas.block_bounds import last_block, whole_blocks

Gradients = Callable[..., tuple[Tensor, ...]]


def changed(**changes: Any) -> Gradients:
    """The backward pass with parts of it changed, where the scale is 1 / √D."""
    found = by_head(Backward(**changes))

    def wrong(
        q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, do: Tensor, causal: bool
    ) -> tuple[Tensor, ...]:
        result: tuple[Tensor, ...] = found(q, k, v, o, lse, do, q.shape[-1] ** -0.5, causal)
        return result

    return wrong


gradients = changed()


def always(causal: bool) -> Gradients:
    return lambda *inputs: gradients(*inputs[:-1], causal)


def alike(x: Tensor) -> Tensor:
    """The first 64 of every 128 keys twice."""
    row = torch.arange(x.shape[2], device=x.device)
    return x[:, :, row // 128 * 128 + row % 64]


def of_first_keys(q: Tensor, k: Tensor, v: Tensor, *others: Any) -> tuple[Tensor, ...]:
    return gradients(q, alike(k), alike(v), *others)


SUSPECTS = {
    "Both warp groups own the first half of a program's keys.": of_first_keys,
    "dq is not multiplied by the scale: s = scale · q kᵀ.": changed(dq_scale=lambda scale: 1.0),
    "dk is not multiplied by the scale: s = scale · q kᵀ.": changed(dk_scale=lambda scale: 1.0),
    "dv is multiplied by the scale: it is pᵀ do.": changed(dv_scale=lambda scale: scale),
    "delta is left out: ds = p (dp - delta).": changed(formula=lambda p, dp, delta: p * dp),
    "delta is not inside of p · (…): ds = p (dp - delta).": changed(
        formula=lambda p, dp, delta: p * dp - delta[..., None]
    ),
    "ds is dp - delta: p is left out.": changed(formula=lambda p, dp, delta: dp - delta[..., None]),
    "lse is in base e, and taken for one in base 2: it is lse · log2(e).": changed(
        of_lse=lambda lse: lse * math.log(2)
    ),
    "dv is dsᵀ do: it is pᵀ do.": changed(dv_from="ds"),
    "dp is do kᵀ: it is do vᵀ.": changed(dp_from="k"),
    "The causal mask is left out.": always(False),
    "There is a causal mask although causal is False.": always(True),
    "To dq only the first half of each program's keys adds.": changed(
        over_keys=lambda i, j, last: j % 128 < 64
    ),
    "To dq only the second half of each program's keys adds.": changed(
        over_keys=lambda i, j, last: j % 128 >= 64
    ),
    "In dk and dv the last 64 queries count alone: each block overwrites the sum of those before.": changed(
        over_queries=lambda i, j, last: i >= last_block(i.numel(), 64)
    ),
    "In dk and dv only whole blocks of 64 queries count: the last, partial one is left out.": changed(
        over_queries=lambda i, j, last: i < whole_blocks(i.numel(), 64)
    ),
}
