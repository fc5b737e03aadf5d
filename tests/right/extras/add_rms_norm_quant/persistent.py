"""A program for several rows, the weight held in registers; halves are rounded by hand."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def nearest(v):
    """To the nearest integer; of two as near the even one."""
    low = tl.floor(v)
    rest = v - low
    odd = low - 2.0 * tl.floor(low * 0.5)
    up = (rest > 0.5) | ((rest == 0.5) & (odd == 1.0))
    return tl.where(up, low + 1.0, low)


@triton.jit
def walk_kernel(x_ptr, residual_ptr, weight_ptr, q_ptr, scale_ptr, m, n, eps, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    weight = tl.load(weight_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    for row in range(tl.program_id(0), m, tl.num_programs(0)):
        offs = row.to(tl.int64) * n + cols
        x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        total = x + tl.load(residual_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        total = total.to(x_ptr.dtype.element_ty)
        tl.store(residual_ptr + offs, total, mask=mask)
        total = total.to(tl.float32)
        y = total / tl.sqrt(tl.sum(total * total) / n + eps) * weight
        scale = tl.maximum(tl.max(y), -tl.min(y)) / 127
        if scale == 0:
            scale += 1.0
        q = tl.clamp(nearest(tl.fdiv(y, scale)), -127.0, 127.0)
        tl.store(q_ptr + offs, q.to(tl.int8), mask=mask)
        tl.store(scale_ptr + row, scale)


def add_rms_norm_quant(
    x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    m, n = x.shape
    q = torch.empty((m, n), dtype=torch.int8, device=x.device)
    scale = torch.empty((m,), dtype=torch.float32, device=x.device)
    programs = 8 if x.device.type == "cpu" else 132 * 4
    walk_kernel[(max(min(programs, m), 1),)](
        x, residual, weight, q, scale, m, n, eps, BLOCK=triton.next_power_of_2(n), num_warps=8
    )
    return q, scale
