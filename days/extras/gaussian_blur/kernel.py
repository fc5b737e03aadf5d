"""Extra: a Gaussian blur in two passes, along the rows and then down the columns."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def reflect(i, n):
    """The index in [0, n) that i stands for, if the row goes on backwards at its ends; -n < i < 2 * n - 1."""
    # TODO 1: -1 stands for 1, and n for n - 2.


@triton.jit
def rows_kernel(x_ptr, out_ptr, width, stride_m, scale, radius, BLOCK: tl.constexpr):
    """out, fp32: each element of a row becomes a weighted mean of those left and right of it."""
    # 64 bits: a row may start 2**31 elements or more after the first one.
    row = tl.program_id(0).to(tl.int64)
    offs_n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offs_n < width
    acc = tl.zeros((BLOCK,), tl.float32)
    total = 0.0
    # TODO 2: add up the weights from -radius to radius, and the elements of the row times their weights.
    # 4 bytes an element: in 16 bits it would be rounded here already.
    tl.store(out_ptr + row * width + offs_n, acc / total, mask=mask)


@triton.jit
def columns_kernel(
    x_ptr, out_ptr, height, width, scale, radius, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    """out: each element of a tile becomes a weighted mean of those above and below it; x is contiguous."""
    # TODO 3: the same for a tile of BLOCK_M rows and BLOCK_N columns, down the columns.


def gaussian_blur(x: torch.Tensor, sigma: float, radius: int) -> torch.Tensor:
    """Return x blurred by the weights exp(-i**2 / (2 * sigma**2)) for |i| <= radius, over their sum.

    x[h, w]: fp32, fp16 or bf16, rows any distance apart; edges reflect, and do not repeat the last element.
    sigma > 0, 0 <= radius < min(h, w). The result is contiguous and of x's dtype, all before it fp32.
    """
    height, width = x.shape
    between = torch.empty(height, width, dtype=torch.float32, device=x.device)
    out = torch.empty(height, width, dtype=x.dtype, device=x.device)
    # Weights are computed in the kernels, an exponential a turn: a tensor of them would have to be copied to
    # the device first, at every call. The factor that they share is a number of the launch.
    scale = -0.5 / (sigma * sigma)
    # Reads 4 bytes of fp32 an element, writes 4; reads 4, writes 4.
    BLOCK = 1024
    rows_kernel[(height, triton.cdiv(width, BLOCK))](
        x, between, width, x.stride(0), scale, radius, BLOCK=BLOCK, num_warps=4
    )
    BLOCK_M, BLOCK_N = 16, 128
    columns_kernel[(triton.cdiv(height, BLOCK_M), triton.cdiv(width, BLOCK_N))](
        between, out, height, width, scale, radius, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, num_warps=4
    )
    return out
