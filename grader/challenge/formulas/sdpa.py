"""torch's own attention, by the backend that a day's bar is set against."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel


def three_steps(q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:
    """Every score stored; left to itself torch would pick a fused kernel."""
    with sdpa_kernel(SDPBackend.MATH):
        return F.scaled_dot_product_attention(q, k, v, scale=scale)


def flash(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool) -> Tensor:
    """Flash attention; where a GPU is too old for it, the memory-efficient one."""
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)


def by_any(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool) -> Tensor:
    """By whichever backend is in force around the call."""
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)


def flex(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool) -> Tensor:
    """FlexAttention, compiled, as it is meant to be; the mask of blocks is made once a shape."""
    mask = _causal_blocks(q.shape[2], k.shape[2], str(q.device)) if causal else None
    out: Tensor = _compiled_flex()(q, k, v, block_mask=mask, scale=scale)
    return out


@cache
def _compiled_flex() -> Any:
    from torch.nn.attention.flex_attention import flex_attention

    return torch.compile(flex_attention, dynamic=False)


@cache
def _causal_blocks(n_queries: int, n_keys: int, device: str) -> Any:
    from torch.nn.attention.flex_attention import create_block_mask

    return create_block_mask(lambda b, h, q, k: q >= k, None, None, n_queries, n_keys, device=device)


def flash_backward(
    q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, do: Tensor, scale: float, causal: bool
) -> tuple[Tensor, ...]:
    """The backward pass alone of flash attention; on older GPUs, of the memory-efficient one."""
    nothing = torch.empty(2, dtype=torch.int64, device=q.device)  # the state of a dropout that there is not
    found: tuple[Tensor, ...]
    if torch.cuda.get_device_capability(q.device)[0] >= 8:
        lengths = (None, None, q.shape[2], k.shape[2])
        found = torch.ops.aten._scaled_dot_product_flash_attention_backward(
            do, q, k, v, o, lse, *lengths, 0.0, causal, nothing, nothing, scale=scale
        )
    else:
        wanted = [True, True, True, False]
        found = torch.ops.aten._scaled_dot_product_efficient_attention_backward(
            do, q, k, v, None, o, lse, nothing[0], nothing[1], 0.0, wanted, causal, scale=scale
        )
    return found[:3]
