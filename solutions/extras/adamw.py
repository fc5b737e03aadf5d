"""Extra: one step of AdamW, in place: four vectors read once, three of them written once."""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl


@triton.jit
def adamw_kernel(
    param_ptr,
    grad_ptr,
    exp_avg_ptr,
    exp_avg_sq_ptr,
    n,
    beta1,
    share1,
    beta2,
    share2,
    eps,
    decay,
    rate,
    correction,
    BLOCK: tl.constexpr,
):
    """param, exp_avg and exp_avg_sq of BLOCK elements, one step later; what they share comes as numbers."""
    # 64 bits: n may pass 2**31.
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    # 4 reads and 3 writes, 28 bytes an element of fp32; each stays in registers in between.
    p = tl.load(param_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    g = tl.load(grad_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    m = tl.load(exp_avg_ptr + offs, mask=mask, other=0.0)
    v = tl.load(exp_avg_sq_ptr + offs, mask=mask, other=0.0)
    m = beta1 * m + share1 * g
    v = beta2 * v + share2 * g * g
    p = p * decay - rate * (m / (tl.sqrt(v) * correction + eps))
    # The states stay fp32; param is rounded here, once.
    tl.store(param_ptr + offs, p, mask=mask)
    tl.store(exp_avg_ptr + offs, m, mask=mask)
    tl.store(exp_avg_sq_ptr + offs, v, mask=mask)


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
    n = param.numel()
    BLOCK = 1024
    adamw_kernel[(triton.cdiv(n, BLOCK),)](
        param,
        grad,
        exp_avg,
        exp_avg_sq,
        n,
        # Python's floats have 53 bits: in fp32 1 - 0.999 has lost a third of its digits already.
        beta1,
        1 - beta1,
        beta2,
        1 - beta2,
        eps,
        1 - lr * weight_decay,
        lr / (1 - beta1**step),
        1 / math.sqrt(1 - beta2**step),
        BLOCK=BLOCK,
        num_warps=4,
    )
