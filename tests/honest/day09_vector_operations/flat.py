"""The matrix as one long vector: row and column come from a division; tanh from the absolute value."""

import torch
import triton
import triton.language as tl

ROOT = tl.constexpr(0.79788456080286535588)


@triton.jit
def tanh(z):
    t = tl.exp(-2 * tl.abs(z))
    return tl.where(z < 0, t - 1, 1 - t) / (1 + t)


@triton.jit
def flat_kernel(X, B, Y, total, N, stride, BLOCK: tl.constexpr):
    i = tl.program_id(axis=0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < total
    row, col = i // N, i % N
    b = tl.load(B + col, mask=inside, other=0).to(tl.float32)
    x = tl.load(X + row * stride + col, mask=inside, other=0).to(tl.float32) + b
    y = 0.5 * x * (1 + tanh((x + 0.044715 * x * x * x) * ROOT))
    tl.store(Y + i, y.to(Y.dtype.element_ty), mask=inside)


def bias_gelu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    M, N = x.shape
    Y = torch.empty((M, N), device=x.device, dtype=x.dtype)

    def grid(meta):
        return (triton.cdiv(M * N, meta["BLOCK"]),)

    flat_kernel[grid](x, bias, Y, M * N, N, x.stride(0), BLOCK=1024)
    return Y
