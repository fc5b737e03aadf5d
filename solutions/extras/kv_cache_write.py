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
    # 64 bits: a token, or a head, may start 2**31 elements or more after the first one.
    token = tl.program_id(0).to(tl.int64)
    offs_h = tl.program_id(1).to(tl.int64) * BLOCK_H + tl.arange(0, BLOCK_H)
    offs_d = tl.arange(0, BLOCK_D)
    mask = (offs_h < n_heads)[:, None] & (offs_d < width)[None, :]
    slot = tl.load(slots_ptr + token)
    # 2 * n_heads * width elements a token from HBM, on their way while the slot is: no load asks for it.
    key_ptrs = key_ptr + token * stride_kt + offs_h[:, None] * stride_kh + offs_d[None, :]
    value_ptrs = value_ptr + token * stride_vt + offs_h[:, None] * stride_vh + offs_d[None, :]
    key = tl.load(key_ptrs, mask=mask)
    value = tl.load(value_ptrs, mask=mask)
    # And as many to HBM. The cache is contiguous, so slots follow one another from page to page.
    offs = (slot * n_heads + offs_h[:, None]) * width + offs_d[None, :]
    kept = mask & (slot >= 0)
    tl.store(key_cache_ptr + offs, key, mask=kept)
    tl.store(value_cache_ptr + offs, value, mask=kept)


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
    write_kernel[(len(key), triton.cdiv(n_heads, BLOCK_H))](
        key,
        value,
        key_cache,
        value_cache,
        slots,
        n_heads,
        width,
        *key.stride()[:2],
        *value.stride()[:2],
        BLOCK_H=BLOCK_H,
        BLOCK_D=BLOCK_D,
        num_warps=4,
    )
