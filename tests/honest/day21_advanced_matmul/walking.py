"""Persistent programs that walk through the groups and keep count of the tiles behind them."""

import torch
import triton
import triton.language as tl


@triton.jit
def walk(
    x_ptr, w_ptr, y_ptr, sizes_ptr, e, n, k, stride_xm, stride_xk, stride_we, stride_wk, stride_wn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    columns = tl.cdiv(n, BLOCK_N)
    passed = 0
    row = tl.zeros((), dtype=tl.int64)
    for group in range(e):
        size = tl.load(sizes_ptr + group)
        tiles = tl.cdiv(size, BLOCK_M) * columns
        while tile < passed + tiles:
            # Down a column of tiles first: they share one column block of the group's weights.
            high = tl.cdiv(size, BLOCK_M)
            in_group = (tile - passed) % high * BLOCK_M + tl.arange(0, BLOCK_M)
            col = (tile - passed) // high * BLOCK_N + tl.arange(0, BLOCK_N)
            depth = tl.arange(0, BLOCK_K)
            live = in_group < size
            a = x_ptr + (row + in_group)[:, None] * stride_xm + depth[None, :] * stride_xk
            b = w_ptr + group * stride_we + depth[:, None] * stride_wk + col[None, :] * stride_wn
            acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for left in range(k, 0, -BLOCK_K):
                acc = tl.dot(
                    tl.load(a, mask=live[:, None] & (depth[None, :] < left), other=0.0),
                    tl.load(b, mask=(depth[:, None] < left) & (col[None, :] < n), other=0.0),
                    acc,
                    allow_tf32=False,
                )
                a += BLOCK_K * stride_xk
                b += BLOCK_K * stride_wk
            y = y_ptr + (row + in_group)[:, None] * n + col[None, :]
            tl.store(y, acc.to(y_ptr.dtype.element_ty), mask=live[:, None] & (col[None, :] < n))
            tile += tl.num_programs(0)
        passed += tiles
        row += size


def grouped_matmul(x, w, group_sizes):
    t, k = x.shape
    e, _, n = w.shape
    y = torch.empty((t, n), dtype=x.dtype, device=x.device)
    block = 128 if x.element_size() == 2 else 64
    programs = 264 if x.is_cuda else 3
    walk[(programs,)](
        x, w, y, group_sizes, e, n, k, *x.stride(), *w.stride(),
        BLOCK_M=block, BLOCK_N=block, BLOCK_K=64 if block == 128 else 32, num_warps=block // 16, num_stages=3,
    )  # fmt: skip
    return y
