"""Row statistics through block pointers with boundary_check and tl.advance, masks by tl.where.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def row_stats_kernel(
    x_ptr, mean_ptr, max_ptr, idx_ptr, n_rows, n_cols, stride_m, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    pid = tl.program_id(0)
    rows = pid * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.arange(0, BLOCK_N)
    block_ptr = tl.make_block_ptr(
        base=x_ptr,
        shape=(n_rows, n_cols),
        strides=(stride_m, 1),
        offsets=(pid * BLOCK_M, 0),
        block_shape=(BLOCK_M, BLOCK_N),
        order=(1, 0),
    )
    total = tl.zeros((BLOCK_M,), tl.float32)
    best = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    where = tl.zeros((BLOCK_M,), tl.int32)
    for start in range(0, n_cols, BLOCK_N):
        x = tl.load(block_ptr, boundary_check=(0, 1), padding_option="zero").to(tl.float32)
        total += tl.sum(x, axis=1)
        x = tl.where((start + cols < n_cols)[None, :], x, float("-inf"))
        block_best = tl.max(x, axis=1)
        # leftmost column that holds the block's maximum
        block_where = tl.min(tl.where(x == block_best[:, None], (start + cols)[None, :], 2147483647), axis=1)
        better = block_best > best
        where = tl.where(better, block_where, where)
        best = tl.where(better, block_best, best)
        block_ptr = tl.advance(block_ptr, (0, BLOCK_N))
    mask = rows < n_rows
    tl.store(mean_ptr + rows, total / n_cols, mask=mask)
    tl.store(max_ptr + rows, best.to(max_ptr.dtype.element_ty), mask=mask)
    tl.store(idx_ptr + rows, where.to(tl.int64), mask=mask)


def row_stats(x):
    n_rows, n_cols = x.shape
    mean = x.new_empty(n_rows, dtype=torch.float32)
    maximum = x.new_empty(n_rows)
    argmax = x.new_empty(n_rows, dtype=torch.int64)
    BLOCK_N = min(triton.next_power_of_2(n_cols), 2048)
    BLOCK_M = 4096 // BLOCK_N
    row_stats_kernel[(triton.cdiv(n_rows, BLOCK_M),)](
        x, mean, maximum, argmax, n_rows, n_cols, x.stride(0), BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, num_warps=8
    )
    return mean, maximum, argmax
