"""The sum of a vector by a single program."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Reads n elements, one block after another, on one SM."""
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + offs, mask=offs < n, other=0.0).to(tl.float32)
    tl.store(out_ptr, tl.sum(acc, axis=0))


def total(x: torch.Tensor) -> torch.Tensor:
    """Return the sum of x[n] as a 0-d fp32 tensor."""
    out = torch.empty((), dtype=torch.float32, device=x.device)
    sum_kernel[(1,)](x, out, x.numel(), BLOCK=8192, num_warps=16)
    return out
