"""Integers held against a threshold; each quarter of a group of 4096 takes one output of randint4x."""

import torch
import triton
import triton.language as tl

# Part of what the mask means, so no tuning parameter: element i takes output (i % 4096) // 1024 of its group.
QUARTER = tl.constexpr(1024)


@triton.jit
def quarter(x_ptr, y_ptr, mask_ptr, i, n, bits, threshold, scale):
    """Drop where the upper 31 bits lie under the threshold."""
    inside = i < n
    keep = (bits.to(tl.uint32, bitcast=True) >> 1).to(tl.int64) >= threshold
    x = tl.load(x_ptr + i, mask=inside).to(tl.float32)
    tl.store(y_ptr + i, tl.where(keep, x * scale, 0.0), mask=inside)
    tl.store(mask_ptr + i, keep, mask=inside)


@triton.jit
def dropout_groups(x_ptr, y_ptr, mask_ptr, n, n_groups, threshold, scale, seed):
    lane = tl.arange(0, QUARTER)
    for group in range(tl.program_id(0), n_groups, tl.num_programs(0)):
        counter = tl.cast(group, tl.int64) * QUARTER + lane
        b0, b1, b2, b3 = tl.randint4x(seed, counter)
        i = tl.cast(group, tl.int64) * (4 * QUARTER) + lane
        quarter(x_ptr, y_ptr, mask_ptr, i, n, b0, threshold, scale)
        quarter(x_ptr, y_ptr, mask_ptr, i + QUARTER, n, b1, threshold, scale)
        quarter(x_ptr, y_ptr, mask_ptr, i + 2 * QUARTER, n, b2, threshold, scale)
        quarter(x_ptr, y_ptr, mask_ptr, i + 3 * QUARTER, n, b3, threshold, scale)


def dropout(x, p, seed):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    mask = torch.empty(x.shape, dtype=torch.bool, device=x.device)
    n_groups = triton.cdiv(x.numel(), 4096)
    scale = 1.0 / (1.0 - p) if p != 1.0 else 1.0
    grid = (min(n_groups, 132 * 8),)
    dropout_groups[grid](x, y, mask, x.numel(), n_groups, round(p * 2**31), scale, seed, num_warps=8)
    return y, mask
