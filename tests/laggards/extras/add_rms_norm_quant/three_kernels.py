"""Sum, norm and quantisation by a kernel each; the norm goes through memory in fp32."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def add_kernel(x_ptr, residual_ptr, n, BLOCK: tl.constexpr):
    """residual += x: 6 bytes an element of 16 bits."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0).to(tl.float32)
    total = tl.load(residual_ptr + offs, mask=offs < n, other=0.0).to(tl.float32) + x
    tl.store(residual_ptr + offs, total, mask=offs < n)


@triton.jit
def norm_kernel(residual_ptr, weight_ptr, y_ptr, n_cols, eps, BLOCK_N: tl.constexpr):
    """y = residual * rstd * weight, in fp32: 6 bytes an element."""
    row = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    h = tl.load(residual_ptr + row * n_cols + offs_n, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + offs_n, mask=mask, other=0.0).to(tl.float32)
    y = h * tl.rsqrt(tl.sum(h * h, axis=0) / n_cols + eps) * weight
    tl.store(y_ptr + row * n_cols + offs_n, y, mask=mask)


@triton.jit
def quantise_kernel(y_ptr, q_ptr, scale_ptr, n_cols, BLOCK_N: tl.constexpr):
    """q and scale of y: 5 bytes an element."""
    row = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    y = tl.load(y_ptr + row * n_cols + offs_n, mask=mask, other=0.0)
    amax = tl.max(tl.abs(y), axis=0)
    scale = tl.where(amax > 0, amax / 127.0, 1.0)
    tl.store(q_ptr + row * n_cols + offs_n, libdevice.rint(y / scale).to(tl.int8), mask=mask)
    tl.store(scale_ptr + row, scale)


def add_rms_norm_quant(
    x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Add x to residual in place; return q, int8, and the scale of each row of its RMS norm."""
    m, n = x.shape
    y = torch.empty(m, n, dtype=torch.float32, device=x.device)
    q = torch.empty(m, n, dtype=torch.int8, device=x.device)
    scale = torch.empty(m, dtype=torch.float32, device=x.device)
    BLOCK_N = triton.next_power_of_2(n)
    add_kernel[(triton.cdiv(m * n, 2048),)](x, residual, m * n, BLOCK=2048)
    norm_kernel[(m,)](residual, weight, y, n, eps, BLOCK_N=BLOCK_N, num_warps=8)
    quantise_kernel[(m,)](y, q, scale, n, BLOCK_N=BLOCK_N, num_warps=8)
    return q, scale
