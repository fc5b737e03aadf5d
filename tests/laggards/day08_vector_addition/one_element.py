"""One element a program: 16 million programs, each of which adds single numbers with all of its lanes."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, stride_x, stride_y):
    pid = tl.program_id(0).to(tl.int64)
    # A grid ends at 2**31 - 1 programs, so the longest vectors take a second round.
    for i in range(pid, n, tl.num_programs(0)):
        tl.store(out_ptr + i, tl.load(x_ptr + i * stride_x) + tl.load(y_ptr + i * stride_y))


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    n = x.numel()
    out = torch.empty(n, dtype=torch.promote_types(x.dtype, y.dtype), device=x.device)
    add_kernel[(min(n, 2**24),)](x, y, out, n, x.stride(0), y.stride(0))
    return out
