"""Extra: the focal loss of logits, whose slope is a product rule that never divides by 0."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable
from triton.language.extra import libdevice

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def log1p(e):
    """log(1 + e) for e in [0, 1], to all digits of fp32 where e is tiny, too: 2 artanh(e / (2 + e))."""
    r = libdevice.fast_dividef(e, 2 + e)
    s = r * r
    # r is at most 1/3: six terms of the series. tl.log would take more, and forgets a small e in 1 + e.
    return 2 * r * (1 + s * (1 / 3 + s * (1 / 5 + s * (1 / 7 + s * (1 / 9 + s * (1 / 11))))))


@triton.jit
def terms(x, t, gamma):
    """Of logits x and targets t: the cross-entropy, q = how wrong the model is, q**gamma, and two more.

    (x, t) costs what (-x, 1 - t) costs, so all is made of |x|, of what the target has against the sign of x,
    and of sigmoid(-|x|): the two more.
    """
    e = tl.exp2(-LOG2E * tl.abs(x))
    low = libdevice.fast_dividef(e, 1 + e)
    against = tl.where(x > 0, 1 - t, t)
    ce = tl.abs(x) * against + log1p(e)
    q = against + (1 - 2 * against) * low
    # log(0) is -inf, and 2 ** (gamma * -inf) the 0 that is wanted; but 0 * -inf is NaN.
    power = tl.where(gamma == 0, 1.0, tl.exp2(gamma * LOG2E * libdevice.fast_logf(q)))
    return ce, q, power, against, low


@triton.jit
def loss_kernel(x_ptr, target_ptr, part_ptr, n, if_yes, if_no, gamma, BLOCK: tl.constexpr):
    """Part pid: the sum of the losses of BLOCK elements."""
    # 64 bits: n may pass 2**31.
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    # 8 bytes an element of fp32 from HBM, the only read of the forward pass.
    x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    t = tl.load(target_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    ce, _, power, _, _ = terms(x, t, gamma)
    loss = (if_yes * t + if_no * (1 - t)) * ce * power
    # An element that is not there has a logit of 0, and is no right answer.
    tl.store(part_ptr + tl.program_id(0), tl.sum(tl.where(mask, loss, 0.0), axis=0))


@triton.jit
def mean_kernel(part_ptr, mean_ptr, n_parts, count, BLOCK: tl.constexpr):
    """The sum of all parts over the number of elements, by one program: 4 bytes for 1024 of them."""
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n_parts, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        acc += tl.load(part_ptr + offs, mask=offs < n_parts, other=0.0)
    # 0 / 0 is NaN, as torch has it for the mean of nothing.
    tl.store(mean_ptr, tl.sum(acc, axis=0) / count)


@triton.jit
def backward_kernel(
    dmean_ptr, x_ptr, target_ptr, dx_ptr, n, if_yes, if_no, gamma, count, BLOCK: tl.constexpr
):
    """dx of BLOCK elements: both terms of the product rule, with q**gamma taken out of them."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    # 8 bytes in and 4 out: what forward computed is computed again.
    x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    t = tl.load(target_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    ce, q, power, against, low = terms(x, t, gamma)
    # Of |x|. q' / q, and not q**(gamma - 1), which is Inf for q = 0 and gamma < 1. There power is 0 anyway.
    relative = tl.where(q > 0, libdevice.fast_dividef((2 * against - 1) * (low - low * low), q), 0.0)
    slope = (if_yes * t + if_no * (1 - t)) * power * (against - low + gamma * ce * relative)
    slope = tl.where(x > 0, slope, -slope)
    # On the device: the host never waits for the upstream gradient.
    tl.store(dx_ptr + offs, slope * (tl.load(dmean_ptr) / count), mask=mask)


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
