"""Extra: one step of AdamW, in place: a tile of rows, and numbers as one table."""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n"])
def tile_step(p, g, m, v, n, table, eps, ROWS: tl.constexpr, COLS: tl.constexpr):
    """ROWS x COLS elements as a matrix; what the elements share comes as a tuple."""
    beta1, rest1, beta2, rest2, shrink, rate, scale = table
    offs = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    offs += tl.program_id(0).to(tl.int64) * (ROWS * COLS)
    here = offs < n
    grad = tl.load(g + offs, here, 0.0).to(tl.float32)
    first = tl.load(m + offs, here, 0.0) * beta1 + grad * rest1
    second = tl.load(v + offs, here, 0.0) * beta2 + grad * grad * rest2
    old = tl.load(p + offs, here, 0.0).to(tl.float32)
    new = old * shrink - rate * first / (tl.sqrt_rn(second) * scale + eps)
    tl.store(p + offs, new.to(p.dtype.element_ty), here)
    tl.store(m + offs, first, here)
    tl.store(v + offs, second, here)


def adamw(
    param: torch.Tensor,
    grad: torch.Tensor,
    exp_avg: torch.Tensor,
    exp_avg_sq: torch.Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    step: int,
) -> None:
    """Update param[n], exp_avg[n] and exp_avg_sq[n] in place by one step of AdamW, the step-th from 1 on."""
    n = param.shape[0]
    table = (beta1, 1.0 - beta1, beta2, 1.0 - beta2, 1.0 - lr * weight_decay)
    table += (lr / (1.0 - beta1**step), 1.0 / math.sqrt(1.0 - beta2**step))
    if n:
        tile_step[((n + 2047) // 2048,)](
            param, grad, exp_avg, exp_avg_sq, n, table, eps, ROWS=8, COLS=256, num_warps=8
        )
