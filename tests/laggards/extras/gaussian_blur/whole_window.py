"""(2 * radius + 1)**2 products an element, in one kernel: the weights are not taken apart."""

import torch
import triton
import triton.language as tl


@triton.jit
def reflect(i, n):
    return n - 1 - tl.abs(n - 1 - tl.abs(i))


@triton.jit
def window_kernel(
    x_ptr, out_ptr, height, width, stride_m, scale, radius, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m < height)[:, None] & (offs_n < width)[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    total = 0.0
    for i in range(-radius, radius + 1):
        rows = reflect(offs_m + i, height).to(tl.int64)
        for j in range(-radius, radius + 1):
            weight = tl.exp(scale * (i * i + j * j))
            cols = reflect(offs_n + j, width)
            x = tl.load(x_ptr + rows[:, None] * stride_m + cols[None, :], mask=mask, other=0.0)
            acc += weight * x.to(tl.float32)
            total += weight
    tl.store(out_ptr + offs_m.to(tl.int64)[:, None] * width + offs_n[None, :], acc / total, mask=mask)


def gaussian_blur(x, sigma, radius):
    height, width = x.shape
    out = torch.empty(height, width, dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(height, 8), triton.cdiv(width, 128))
    window_kernel[grid](
        x,
        out,
        height,
        width,
        x.stride(0),
        -0.5 / (sigma * sigma),
        radius,
        BLOCK_M=8,
        BLOCK_N=128,
        num_warps=4,
    )
    return out
