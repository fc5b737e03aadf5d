"""Extra: residual addition, RMS norm and quantisation to int8, each row read once."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def add_rms_norm_quant_kernel(
    x_ptr, residual_ptr, weight_ptr, q_ptr, scale_ptr, n_cols, eps, BLOCK_N: tl.constexpr
):
    """One row: residual += x; q * scale is the RMS norm of that, to 1 part in 127 of its largest element."""
    # 64 bits: a row may start 2**31 elements or more after the first one.
    row = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    offs = row * n_cols + offs_n
    # 4 bytes an element from HBM; the weight comes from L2, asked for before anybody waits for a sum.
    x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    residual = tl.load(residual_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + offs_n, mask=mask, other=0.0).to(tl.float32)
    # Rounded as the next layer will read it, and normed so: 2 bytes to HBM.
    total = (residual + x).to(residual_ptr.dtype.element_ty)
    tl.store(residual_ptr + offs, total, mask=mask)
    h = total.to(tl.float32)
    # Two reductions, the second of what the first one gives; between them the row stays in registers.
    y = h * tl.rsqrt(tl.sum(h * h, axis=0) / n_cols + eps) * weight
    amax = tl.max(tl.abs(y), axis=0)
    # A row of zeros: 0 / 1, not 0 / 0.
    scale = tl.where(amax > 0, amax / 127.0, 1.0)
    # To the nearest integer, of two as near the even one; a conversion would cut off. 1 byte to HBM.
    tl.store(q_ptr + offs, libdevice.rint(y / scale).to(tl.int8), mask=mask)
    tl.store(scale_ptr + row, scale)


def add_rms_norm_quant(
    x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Add x[m, n] to residual[m, n] in place; return q[m, n], int8, and scale[m], fp32, of its RMS norm.

    q * scale is near residual / rms(residual) * weight, and the largest |q| of a row is 127.
    """
    n_rows, n_cols = x.shape
    q = torch.empty(n_rows, n_cols, dtype=torch.int8, device=x.device)
    scale = torch.empty(n_rows, dtype=torch.float32, device=x.device)
    BLOCK_N = triton.next_power_of_2(n_cols)
    add_rms_norm_quant_kernel[(n_rows,)](
        x,
        residual,
        weight,
        q,
        scale,
        n_cols,
        eps,
        BLOCK_N=BLOCK_N,
        num_warps=min(max(BLOCK_N // 512, 1), 16),
    )
    return q, scale
