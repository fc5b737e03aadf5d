"""Extra: one step of AdamW, in place: four vectors read once, three of them written once."""

from __future__ import annotations

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
    # TODO 1: this program's elements, and which of them exist.
    # TODO 2: read the four vectors, once each, and compute in fp32.
    # TODO 3: take the gradient into both states; then shrink param, and move it by the corrected states.
    # TODO 4: store what has changed, each vector in its own dtype.


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
    # TODO 5: work out in Python's floats what no element changes; launch programs for n elements.
