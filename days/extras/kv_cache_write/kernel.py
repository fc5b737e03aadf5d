"""Extra: each token's key and value put into its slot of the cache, in place."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def write_kernel(
    key_ptr,
    value_ptr,
    key_cache_ptr,
    value_cache_ptr,
    slots_ptr,
    n_heads,
    width,
    stride_kt,
    stride_kh,
    stride_vt,
    stride_vh,
    BLOCK_H: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """Put BLOCK_H heads of one token, key and value, into the token's slot; BLOCK_D >= width."""
    # TODO 1: which token, and which of its heads, are this program's? A head may have fewer than BLOCK_D.
    # TODO 2: read the token's slot, and the heads of its key and of its value, each by its own strides.
    # TODO 3: where does a slot lie in a contiguous cache? Store both there, unless the token has none.


def kv_cache_write(
    key: torch.Tensor,
    value: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    slots: torch.Tensor,
) -> None:
    """Put key[t] and value[t] into slot slots[t] of their caches, in place; -1 is no slot.

    key, value[t, h, d]: d contiguous, tokens and heads any distance apart, each their own. Caches
    [pages, page_size, h, d], contiguous: slot page * page_size + place is [page, place].
    """
    n_heads, width = key.shape[1:]
    # At most 2048 elements of each a program, 16 a thread, and all heads of a token where they are no more.
    BLOCK_D = triton.next_power_of_2(width)
    BLOCK_H = min(triton.next_power_of_2(n_heads), max(2048 // BLOCK_D, 1))
    # TODO 4: launch programs for all heads of all tokens.
