"""Day 25: dropout that keeps no mask: the backward pass works it out again."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit
def dropout_kernel(
    x_ptr, y_ptr, M, N, n_blocks, stride_xb, stride_xm, stride_xn, p, scale, seed, BLOCK: tl.constexpr
):
    """y[b, m, n] = scale * x[b, m, n] where kept, else 0; a program owns BLOCK elements of one row of x."""
    # 64 bits: elements past 2**32 get counters of their own, and products with strides do not wrap.
    pid = tl.program_id(0).to(tl.int64)
    row = pid // n_blocks
    first = row * N  # the number of the row's first element
    # Four elements share a run of Philox, and a row may start in the middle of a four: begin at its start.
    offs = first // 4 * 4 + (pid % n_blocks) * BLOCK + tl.arange(0, BLOCK)
    offs_n = offs - first
    mask = (offs_n >= 0) & (offs_n < N)
    counters = first // 4 + (pid % n_blocks) * (BLOCK // 4) + tl.arange(0, BLOCK // 4)
    u0, u1, u2, u3 = tl.rand4x(seed, counters)
    u = tl.interleave(tl.interleave(u0, u2), tl.interleave(u1, u3))
    # Strides say where x lies, and enter nowhere else: forward and backward may differ in them.
    x_ptrs = x_ptr + row // M * stride_xb + row % M * stride_xm + offs_n * stride_xn
    x = tl.load(x_ptrs, mask=mask).to(tl.float32)
    # 8 bytes an element in fp32, and 8 more in the backward pass. A mask would cost 1 + 1, and its memory.
    tl.store(y_ptr + offs, tl.where(u >= p, x * scale, 0.0), mask=mask)


def joined(x: torch.Tensor) -> tuple[list[int], list[int]]:
    """Sizes and strides of x as three dimensions, those joined that follow on one another in memory."""
    sizes, strides = [1, 1, 1], [0, 0, 0]
    for size, stride in zip(x.shape, x.stride(), strict=True):
        if size == 1:
            continue  # never stepped along, so its stride may be anything
        if sizes[-1] == 1 or strides[-1] == size * stride:
            sizes[-1], strides[-1] = sizes[-1] * size, stride
        else:
            sizes, strides = [*sizes[1:], size], [*strides[1:], stride]
    return sizes, strides


def drop(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    """Return x / (1 - p) where kept and 0 elsewhere, contiguous."""
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    # A contiguous x becomes a single row, whatever its shape; only what lies in pieces has several.
    (B, M, N), strides = joined(x)
    scale = 1 / (1 - p) if p < 1 else 0.0  # where nothing is kept, nothing is scaled
    # 8 elements a thread at 4 warps: two runs of Philox, and two 16-byte loads of fp32.
    BLOCK = 1024
    # A row that may start in the middle of a four begins up to 3 lanes early.
    n_blocks = triton.cdiv(N + (3 if N % 4 else 0), BLOCK)
    dropout_kernel[(B * M * n_blocks,)](x, y, M, N, n_blocks, *strides, p, scale, seed, BLOCK=BLOCK)
    return y


class Dropout(torch.autograd.Function):
    """y = keep * x / (1 - p), so dx = keep * dy / (1 - p): the same function, of another tensor."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
        # Two numbers. A mask would be a byte an element, held from here to the backward pass.
        ctx.p, ctx.seed = p, seed
        return drop(x, p, seed)

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        """One gradient for each argument of forward; a number has none."""
        # By apply and not by drop, so that dx can be differentiated again.
        return Dropout.apply(dy, ctx.p, ctx.seed), None, None


def dropout(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    """Return x / (1 - p) where kept and 0 elsewhere, contiguous; x has up to three dimensions, any strides.

    Element i, in row-major order, is kept by (seed, i, p) alone. Differentiable in x.
    """
    return Dropout.apply(x, p, seed)
