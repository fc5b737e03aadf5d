"""A separable filter as image code often has it: a table of weights made on the host, int32, a pass each.

May have limits.
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def conv1d_kernel(
    x_ptr, w_ptr, y_ptr, height, width, stride,
    AXIS: tl.constexpr, KSIZE: tl.constexpr, BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    col = tl.program_id(1) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = col < width
    acc = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for k in range(KSIZE):
        offset = k - KSIZE // 2
        if AXIS == 0:
            yy = tl.abs(row + offset)
            yy = height - 1 - tl.abs(height - 1 - yy)
            xx = col
        else:
            yy = row
            xx = tl.abs(col + offset)
            xx = width - 1 - tl.abs(width - 1 - xx)
        acc += tl.load(w_ptr + k) * tl.load(x_ptr + yy * stride + xx, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * width + col, acc.to(y_ptr.dtype.element_ty), mask=mask)


def gaussian_blur(x: torch.Tensor, sigma: float, radius: int) -> torch.Tensor:
    height, width = x.shape
    weights = [math.exp(-(i**2) / (2 * sigma**2)) for i in range(-radius, radius + 1)]
    total = sum(weights)
    table = torch.tensor([weight / total for weight in weights], dtype=torch.float32, device=x.device)
    temp = torch.empty((height, width), dtype=torch.float32, device=x.device)
    output = torch.empty((height, width), dtype=x.dtype, device=x.device)
    grid = (height, triton.cdiv(width, 1024))
    conv1d_kernel[grid](x, table, temp, height, width, x.stride(0), 1, 2 * radius + 1, 1024)
    conv1d_kernel[grid](temp, table, output, height, width, width, 0, 2 * radius + 1, 1024)
    return output
