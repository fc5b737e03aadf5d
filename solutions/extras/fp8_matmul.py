"""Extra: a product of FP8 matrices, its sums promoted to fp32, with a scale for each row of both."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def add_products(acc, a, b_ptrs, mask):
    """acc and the products of a tile of a and one of b, at b_ptrs."""
    b = tl.load(b_ptrs, mask=mask, other=0.0)
    # The units keep 14 bits of a sum. So each turn has a sum of its own, and fp32 adds those up.
    return tl.dot(a, b, acc, max_num_imprecise_acc=a.shape[1])


@triton.jit
def store_scaled(c_ptrs, acc, a_scale, b_scale_ptrs, rows, cols):
    """Scale a half's sums; 2 bytes an element to HBM, rounded here and nowhere earlier."""
    b_scale = tl.load(b_scale_ptrs, mask=cols, other=0.0)
    c = acc * a_scale[:, None] * b_scale[None, :]
    tl.store(c_ptrs, c, mask=rows[:, None] & cols[None, :])


@triton.jit
def fp8_matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    a_scale_ptr,
    b_scale_ptr,
    m,
    n,
    k,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    """One tile of c = a @ b.T, BLOCK_M rows high and BLOCK_N columns wide, in two halves of columns."""
    tiles_m, tiles_n = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    # Day 18's order: GROUP_M tiles below one another, then the next column of them, so that L2 serves most.
    first_m = tl.program_id(0) // (GROUP_M * tiles_n) * GROUP_M
    group = min(tiles_m - first_m, GROUP_M)
    inside = tl.program_id(0) % (GROUP_M * tiles_n)
    # 64 bits: any of the three may pass 2**31 elements.
    offs_m = (first_m + inside % group).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    HALF_N: tl.constexpr = BLOCK_N // 2
    offs_n = (inside // group).to(tl.int64) * BLOCK_N + tl.arange(0, HALF_N)
    offs_k = tl.arange(0, BLOCK_K)
    rows, left, right = offs_m < m, offs_n < n, offs_n + HALF_N < n
    # Both have k side by side, so b's rows are the columns of what is multiplied.
    a_ptrs = a_ptr + offs_m[:, None] * k + offs_k[None, :]
    left_ptrs = b_ptr + offs_n[None, :] * k + offs_k[:, None]
    right_ptrs = b_ptr + (offs_n + HALF_N)[None, :] * k + offs_k[:, None]
    # A fresh sum takes registers beside acc. In two halves, one after the other, it takes half as many: 128 a
    # thread are enough, and two programs share an SM. One adds while the other multiplies.
    left_acc = tl.zeros((BLOCK_M, HALF_N), tl.float32)
    right_acc = tl.zeros((BLOCK_M, HALF_N), tl.float32)
    for rest in range(k, 0, -BLOCK_K):
        # (BLOCK_M + BLOCK_N) * BLOCK_K bytes a turn. In the last, lanes past k hold 0 on both sides.
        inner = offs_k < rest
        a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0.0)
        left_acc = add_products(left_acc, a, left_ptrs, inner[:, None] & left[None, :])
        right_acc = add_products(right_acc, a, right_ptrs, inner[:, None] & right[None, :])
        a_ptrs += BLOCK_K
        left_ptrs += BLOCK_K
        right_ptrs += BLOCK_K
    a_scale = tl.load(a_scale_ptr + offs_m, mask=rows, other=0.0)
    c_ptrs = c_ptr + offs_m[:, None] * n + offs_n[None, :]
    store_scaled(c_ptrs, left_acc, a_scale, b_scale_ptr + offs_n, rows, left)
    store_scaled(c_ptrs + HALF_N, right_acc, a_scale, b_scale_ptr + offs_n + HALF_N, rows, right)


def fp8_matmul(
    a: torch.Tensor, b: torch.Tensor, a_scale: torch.Tensor, b_scale: torch.Tensor
) -> torch.Tensor:
    """Return (a @ b.T) * a_scale * b_scale in bf16, for contiguous a[m, k] and b[n, k] of e4m3."""
    (m, k), n = a.shape, b.shape[0]
    c = torch.empty(m, n, dtype=torch.bfloat16, device=a.device)
    # 32 KB a stage, three of them under way: of shared memory, too, an SM has enough for two programs.
    BLOCK_M = min(max(triton.next_power_of_2(m), 16), 128)
    BLOCK_N = min(max(triton.next_power_of_2(n), 32), 128)
    fp8_matmul_kernel[(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)](
        a,
        b,
        c,
        a_scale,
        b_scale,
        m,
        n,
        k,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=128,
        GROUP_M=8,
        num_warps=8 if BLOCK_M * BLOCK_N > 4096 else 4,
        num_stages=3,
        maxnreg=128,
    )
    return c
