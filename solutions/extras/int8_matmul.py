"""Extra: a product of int8 matrices, summed up in int32, with scales and a zero point for each row."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def int8_matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    a_scale_ptr,
    b_scale_ptr,
    a_zero_ptr,
    m,
    n,
    k,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    HAS_ZERO: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    """One tile of c, BLOCK_M rows high and BLOCK_N columns wide."""
    tiles_m, tiles_n = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    # Day 18's order: GROUP_M tiles below one another, then the next column of them, so that L2 serves most.
    first_m = tl.program_id(0) // (GROUP_M * tiles_n) * GROUP_M
    group = min(tiles_m - first_m, GROUP_M)
    inside = tl.program_id(0) % (GROUP_M * tiles_n)
    # 64 bits: any of the three may pass 2**31 elements, times its stride.
    offs_m = (first_m + inside % group).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = (inside // group).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K).to(tl.int64)
    rows, cols = offs_m < m, offs_n < n
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
    # int32 holds every sum: 255 * 128 * 65536 < 2**31. fp32 would lose the last digits past 2**24.
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.int32)
    b_sum = tl.zeros((BLOCK_N,), tl.int32)
    for left in range(k, 0, -BLOCK_K):
        # (BLOCK_M + BLOCK_N) * BLOCK_K bytes a turn. In the last, lanes past k hold 0 on both sides.
        inner = offs_k < left
        a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0)
        b = tl.load(b_ptrs, mask=inner[:, None] & cols[None, :], other=0)
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
        if HAS_ZERO:
            b_sum += tl.sum(b.to(tl.int32), axis=0)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if HAS_ZERO:
        # a - zero takes 9 bits, so zero is taken out behind the sum: times what the column of b sums up to.
        zero = tl.load(a_zero_ptr + offs_m, mask=rows, other=0)
        acc -= zero[:, None] * b_sum[None, :]
    a_scale = tl.load(a_scale_ptr + offs_m, mask=rows, other=0.0)
    b_scale = tl.load(b_scale_ptr + offs_n, mask=cols, other=0.0)
    # 4 bytes an element to HBM, rounded to fp32 here for the first time.
    c = acc.to(tl.float32) * a_scale[:, None] * b_scale[None, :]
    tl.store(c_ptr + offs_m[:, None] * n + offs_n[None, :], c, mask=rows[:, None] & cols[None, :])


def int8_matmul(
    a: torch.Tensor,
    b: torch.Tensor,
    a_scale: torch.Tensor,
    b_scale: torch.Tensor,
    a_zero: torch.Tensor | None,
) -> torch.Tensor:
    """Return ((a - a_zero) @ b) * a_scale * b_scale in fp32, for int8 a[m, k] and b[k, n] of any strides."""
    m, n, k = a.shape[0], b.shape[1], a.shape[1]
    c = torch.empty(m, n, dtype=torch.float32, device=a.device)
    # The least K of an int8 tl.dot is 32. 32 KB a stage, three of them under way, and 4 warps: an SM has room
    # for two such programs. One stores its 64 KB while the other multiplies.
    BLOCK_M = min(max(triton.next_power_of_2(m), 16), 128)
    BLOCK_N = min(max(triton.next_power_of_2(n), 16), 128)
    int8_matmul_kernel[(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)](
        a,
        b,
        c,
        a_scale,
        b_scale,
        a_zero,
        m,
        n,
        k,
        *a.stride(),
        *b.stride(),
        HAS_ZERO=a_zero is not None,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=128,
        GROUP_M=8,
        num_warps=4,
        num_stages=3,
    )
    return c
