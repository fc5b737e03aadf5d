"""Extra: the focal loss of logits, whose slope is a product rule that never divides by 0."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


@triton.jit
def terms(x, t, gamma):
    """Of logits x and targets t: the cross-entropy, q = how wrong the model is, q**gamma, and two more.

    (x, t) costs what (-x, 1 - t) costs, so all is made of |x|, of what the target has against the sign of x,
    and of sigmoid(-|x|): the two more.
    """
    # TODO 1: the cross-entropy, finite for every finite x and right where it is tiny.
    # TODO 2: q without a difference that cancels; and q**gamma, for q = 0 and gamma = 0 too.


@triton.jit
def loss_kernel(x_ptr, target_ptr, part_ptr, n, if_yes, if_no, gamma, BLOCK: tl.constexpr):
    """Part pid: the sum of the losses of BLOCK elements."""
    # TODO 3: the weighted losses of this block, and their sum to a place of its own.


@triton.jit
def mean_kernel(part_ptr, mean_ptr, n_parts, count, BLOCK: tl.constexpr):
    """The sum of all parts over the number of elements, by one program: 4 bytes for 1024 of them."""
    # TODO 4: add up all parts, and divide.


@triton.jit
def backward_kernel(
    dmean_ptr, x_ptr, target_ptr, dx_ptr, n, if_yes, if_no, gamma, count, BLOCK: tl.constexpr
):
    """dx of BLOCK elements: both terms of the product rule, with q**gamma taken out of them."""
    # TODO 5: the slope of the cross-entropy.
    # TODO 6: the slope of q**gamma, over q**gamma: no power of gamma - 1.
    # TODO 7: the product rule, the weight, the upstream gradient.


class FocalLoss(torch.autograd.Function):
    """Tells autograd which kernels compute the loss, and which its gradient."""

    @staticmethod
    def forward(
        ctx: Any, logits: torch.Tensor, target: torch.Tensor, alpha: float, gamma: float
    ) -> torch.Tensor:
        n = logits.numel()
        n_parts = triton.cdiv(n, 1024)
        part = torch.empty(n_parts, dtype=torch.float32, device=logits.device)
        mean = torch.empty((), dtype=torch.float32, device=logits.device)
        # Of yes and of no: how much a loss counts.
        ctx.numbers = (alpha, 1 - alpha, gamma) if alpha >= 0 else (1.0, 1.0, gamma)
        loss_kernel[(n_parts,)](logits, target, part, n, *ctx.numbers, BLOCK=1024, num_warps=4)
        mean_kernel[(1,)](part, mean, n_parts, n, BLOCK=16384, num_warps=32)
        ctx.save_for_backward(logits, target)
        return mean

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dmean: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        logits, target = ctx.saved_tensors
        n = logits.numel()
        dlogits = torch.empty(logits.shape, dtype=logits.dtype, device=logits.device)
        backward_kernel[(triton.cdiv(n, 1024),)](
            dmean, logits, target, dlogits, n, *ctx.numbers, n, BLOCK=1024, num_warps=4
        )
        return dlogits, None, None, None


def sigmoid_focal_loss(
    logits: torch.Tensor, target: torch.Tensor, alpha: float, gamma: float
) -> torch.Tensor:
    """Return the mean of alpha_t * q**gamma * cross-entropy, fp32 []; alpha < 0 leaves alpha_t out."""
    return FocalLoss.apply(logits, target, alpha, gamma)
