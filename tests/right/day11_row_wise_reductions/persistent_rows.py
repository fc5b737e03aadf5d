"""Row statistics by a fixed number of programs, each striding over row blocks; int32, pair-wise helper."""

import torch
import triton
import triton.language as tl

NEG_INF = tl.constexpr(float("-inf"))


@triton.jit
def take_first_max(best, index, new, new_index):
    gt = new > best
    return tl.where(gt, new, best), tl.where(gt, new_index, index)


@triton.jit
def stats_kernel(
    X, MEAN, MAX, ARGMAX, n_rows, n_cols, stride_x, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    num_blocks = tl.cdiv(n_rows, BLOCK_M)
    for block in tl.range(tl.program_id(0), num_blocks, tl.num_programs(0)):
        offs_m = block * BLOCK_M + tl.arange(0, BLOCK_M)
        mask_m = offs_m < n_rows
        s = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        best = tl.full((BLOCK_M, BLOCK_N), NEG_INF, dtype=tl.float32)
        index = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32) + tl.arange(0, BLOCK_N)[None, :]
        for start in range(0, n_cols, BLOCK_N):
            offs_n = start + tl.arange(0, BLOCK_N)
            mask = mask_m[:, None] & (offs_n < n_cols)[None, :]
            x = tl.load(X + offs_m[:, None] * stride_x + offs_n[None, :], mask=mask, other=NEG_INF)
            x = x.to(tl.float32)
            s += tl.where(mask, x, 0.0)
            best, index = take_first_max(best, index, x, offs_n[None, :])
        row_best = tl.max(best, axis=1)
        row_index = tl.min(tl.where(best == row_best[:, None], index, n_cols), axis=1)
        tl.store(MEAN + offs_m, tl.sum(s, axis=1) / n_cols, mask=mask_m)
        tl.store(MAX + offs_m, row_best, mask=mask_m)
        tl.store(ARGMAX + offs_m, row_index, mask=mask_m)


def row_stats(x):
    n_rows, n_cols = x.shape
    mean = torch.empty(n_rows, dtype=torch.float32, device=x.device)
    maximum = torch.empty(n_rows, dtype=x.dtype, device=x.device)
    argmax = torch.empty(n_rows, dtype=torch.int64, device=x.device)
    if n_rows == 0:
        return mean, maximum, argmax
    sms = torch.cuda.get_device_properties(x.device).multi_processor_count if x.is_cuda else 64
    BLOCK_N = min(triton.next_power_of_2(n_cols), 2048)
    BLOCK_M = max(2048 // BLOCK_N, 1)
    grid = (min(triton.cdiv(n_rows, BLOCK_M), sms * 8),)
    stats_kernel[grid](x, mean, maximum, argmax, n_rows, n_cols, x.stride(0), BLOCK_M, BLOCK_N, num_warps=4)
    return mean, maximum, argmax
