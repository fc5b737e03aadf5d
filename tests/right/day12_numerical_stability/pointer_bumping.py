"""Logsumexp in two walks with pointers that move on, masks by tl.where, int32 offsets."""

import torch
import triton
import triton.language as tl


@triton.jit
def logsumexp_kernel(x_ptr, y_ptr, n_cols, stride_xm, BLOCK_N: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_N)
    row_start = x_ptr + row * stride_xm + cols
    ptrs = row_start
    row_max = tl.full((BLOCK_N,), float("-inf"), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK_N):
        mask = cols < n_cols - start
        x = tl.load(ptrs, mask=mask).to(tl.float32)
        row_max = tl.maximum(row_max, tl.where(mask, x, float("-inf")))
        ptrs += BLOCK_N
    m = tl.max(row_max, axis=0)
    m = tl.where(tl.abs(m) == float("inf"), 0.0, m)
    acc = tl.zeros((BLOCK_N,), dtype=tl.float32)
    ptrs = row_start
    for start in range(0, n_cols, BLOCK_N):
        mask = cols < n_cols - start
        x = tl.load(ptrs, mask=mask).to(tl.float32)
        acc += tl.where(mask, tl.exp(x - m), 0.0)
        ptrs += BLOCK_N
    tl.store(y_ptr + row, m + tl.log(tl.sum(acc, axis=0)))


def logsumexp(x):
    n_rows, n_cols = x.shape
    y = torch.empty((n_rows,), dtype=torch.float32, device=x.device)
    BLOCK_N = min(triton.next_power_of_2(n_cols), 4096)
    logsumexp_kernel[(n_rows,)](
        x, y, n_cols, x.stride(0), BLOCK_N=BLOCK_N, num_warps=4 if BLOCK_N > 512 else 1
    )
    return y
