"""A kernel plans before the products: for each row of tiles its group, first row and end."""

import torch
import triton
import triton.language as tl


@triton.jit
def plan_kernel(sizes_ptr, plan_ptr, groups, BLOCK_M: tl.constexpr, BLOCK_E: tl.constexpr):
    tile = tl.program_id(0)
    offs = tl.arange(0, BLOCK_E)
    sizes = tl.load(sizes_ptr + offs, mask=offs < groups, other=0)
    tiles = tl.cdiv(sizes, BLOCK_M)
    last_tile, last_row = tl.cumsum(tiles, 0), tl.cumsum(sizes, 0)
    mine = (last_tile > tile) & (last_tile - tiles <= tile)
    first = last_row - sizes + (tile - last_tile + tiles) * BLOCK_M
    tl.store(plan_ptr + tile * 3, tl.sum(tl.where(mine, offs, 0), 0))
    tl.store(plan_ptr + tile * 3 + 1, tl.sum(tl.where(mine, first, 0), 0))
    tl.store(plan_ptr + tile * 3 + 2, tl.sum(tl.where(mine, last_row, 0), 0))


@triton.jit
def product_kernel(
    x_ptr,
    w_ptr,
    out_ptr,
    plan_ptr,
    n,
    k,
    stride_xm,
    stride_xk,
    stride_we,
    stride_wk,
    stride_wn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    plan = plan_ptr + tl.program_id(0) * 3
    group, begin, end = tl.load(plan), tl.load(plan + 1), tl.load(plan + 2)
    if begin < end:
        rows = begin.to(tl.int64) + tl.arange(0, BLOCK_M)
        cols = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
        offs_k = tl.arange(0, BLOCK_K).to(tl.int64)
        x_ptrs = x_ptr + rows[:, None] * stride_xm + offs_k[None, :] * stride_xk
        w_ptrs = (
            w_ptr + group.to(tl.int64) * stride_we + offs_k[:, None] * stride_wk + cols[None, :] * stride_wn
        )
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for start in range(0, k, BLOCK_K):
            left = offs_k < k - start
            x = tl.load(x_ptrs, mask=(rows < end)[:, None] & left[None, :], other=0.0)
            w = tl.load(w_ptrs, mask=left[:, None] & (cols < n)[None, :], other=0.0)
            acc = tl.dot(x, w, acc, input_precision="ieee")
            x_ptrs += BLOCK_K * stride_xk
            w_ptrs += BLOCK_K * stride_wk
        mask = (rows < end)[:, None] & (cols < n)[None, :]
        tl.store(out_ptr + rows[:, None] * n + cols[None, :], acc, mask=mask)


def grouped_matmul(x, w, group_sizes):
    (t, k), (e, _, n) = x.shape, w.shape
    out = torch.empty(t, n, dtype=x.dtype, device=x.device)
    if t == 0 or n == 0:
        return out
    slow = x.dtype == torch.float32
    block_m = 64 if slow or t < 128 * e else 128
    block_n, block_k = (64, 32) if slow else (128, 64)
    tiles = t // block_m + min(e, t)
    plan = torch.empty(tiles, 3, dtype=torch.int32, device=x.device)
    plan_kernel[(tiles,)](group_sizes, plan, e, BLOCK_M=block_m, BLOCK_E=triton.next_power_of_2(e))
    product_kernel[(tiles, triton.cdiv(n, block_n))](
        x,
        w,
        out,
        plan,
        n,
        k,
        *x.stride(),
        *w.stride(),
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        BLOCK_K=block_k,
        num_warps=8,
        num_stages=3,
    )
    return out
