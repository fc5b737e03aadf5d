"""Low-memory dropout that takes every element's number apart by 64-bit divisions, contiguous or not."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit
def dropout_kernel(
    x_ptr, y_ptr, n, M, N, stride_xb, stride_xm, stride_xn, p, scale, seed, BLOCK: tl.constexpr
):
    """y[i] = scale * x[i] where kept, else 0; four divisions of 64 bits for each element."""
    pid = tl.program_id(0).to(tl.int64)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    u = tl.rand(seed, offs)
    x_offs = offs // (M * N) * stride_xb + offs // N % M * stride_xm + offs % N * stride_xn
    x = tl.load(x_ptr + x_offs, mask=mask).to(tl.float32)
    tl.store(y_ptr + offs, tl.where(u >= p, x * scale, 0.0), mask=mask)


def drop(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    """Return x / (1 - p) where kept and 0 elsewhere, contiguous."""
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    wide = x[(None,) * (3 - x.dim())]
    scale = 1 / (1 - p) if p < 1 else 0.0
    BLOCK = 1024
    grid = (triton.cdiv(x.numel(), BLOCK),)
    dropout_kernel[grid](
        x, y, x.numel(), wide.shape[1], wide.shape[2], *wide.stride(), p, scale, seed, BLOCK=BLOCK
    )
    return y


class Dropout(torch.autograd.Function):
    """y = keep * x / (1 - p), so dx = keep * dy / (1 - p): the same function, of another tensor."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
        ctx.p, ctx.seed = p, seed
        return drop(x, p, seed)

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return drop(dy, ctx.p, ctx.seed), None, None


def dropout(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    """Return x / (1 - p) where kept and 0 elsewhere, contiguous."""
    return Dropout.apply(x, p, seed)
