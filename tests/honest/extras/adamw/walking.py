"""Extra: one step of AdamW, in place: programs walk along the vectors."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def walk(p_ptr, g_ptr, m_ptr, v_ptr, n, beta2, one1, one2, eps, keep, lr, first, second, BLOCK: tl.constexpr):
    """Every program takes each num_programs-th block; the states are corrected as the paper writes it."""
    lanes = tl.arange(0, BLOCK)
    blocks = tl.cdiv(n, BLOCK)
    for block in range(tl.program_id(0), blocks, tl.num_programs(0)):
        at = block.to(tl.int64) * BLOCK + lanes
        inside = at < n
        grad = tl.load(g_ptr + at, inside).to(tl.float32)
        m = tl.load(m_ptr + at, inside)
        v = tl.load(v_ptr + at, inside)
        m += one1 * (grad - m)
        v = tl.fma(v, beta2, one2 * grad * grad)
        tl.store(m_ptr + at, m, inside)
        tl.store(v_ptr + at, v, inside)
        step = (m / first) / (tl.sqrt(v / second) + eps)
        param = tl.load(p_ptr + at, inside).to(tl.float32)
        tl.store(p_ptr + at, tl.fma(param, keep, -lr * step), inside)


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
    n = len(param)
    numbers = beta2, 1 - beta1, 1 - beta2, eps, 1 - lr * weight_decay, lr, 1 - beta1**step, 1 - beta2**step
    programs = min(triton.cdiv(n, 2048), 1056)
    walk[(programs,)](param, grad, exp_avg, exp_avg_sq, n, *numbers, BLOCK=2048, num_warps=8)
