"""Dropout by one program an SM, which walks along x with 4 KB in flight at a time."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def dropout_kernel(x_ptr, y_ptr, keep_ptr, n, p, scale, seed, BLOCK: tl.constexpr):
    """y[i] = scale * x[i] where element i is kept, else 0; a program takes every num_programs-th block."""
    start = tl.program_id(0).to(tl.int64) * BLOCK
    while start < n:
        offs = start + tl.arange(0, BLOCK)
        mask = offs < n
        counters = start // 4 + tl.arange(0, BLOCK // 4)
        u0, u1, u2, u3 = tl.rand4x(seed, counters)
        keep = tl.interleave(tl.interleave(u0, u2), tl.interleave(u1, u3)) >= p
        x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
        tl.store(y_ptr + offs, tl.where(keep, x * scale, 0.0), mask=mask)
        tl.store(keep_ptr + offs, keep, mask=mask)
        start += tl.num_programs(0) * BLOCK


def dropout(x: torch.Tensor, p: float, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return y, which is x / (1 - p) where kept and 0 elsewhere, and the mask of what was kept, bool."""
    n = x.numel()
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    keep = torch.empty(x.shape, dtype=torch.bool, device=x.device)
    scale = 1 / (1 - p) if p < 1 else 0.0
    BLOCK = 1024
    programs = min(triton.cdiv(n, BLOCK), 132)
    dropout_kernel[(programs,)](x, y, keep, n, p, scale, seed, BLOCK=BLOCK, num_warps=4)
    return y, keep
