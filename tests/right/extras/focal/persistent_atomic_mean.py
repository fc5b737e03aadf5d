"""Focal loss by a persistent grid and one fp32 atomic a program; log1p from libdevice, gamma a constexpr.

May have limits.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def power(q, GAMMA: tl.constexpr):
    if GAMMA == 0.0:
        out = tl.full(q.shape, 1.0, tl.float32)
    elif GAMMA == 1.0:
        out = q
    elif GAMMA == 2.0:
        out = q * q
    else:
        out = tl.exp2(GAMMA * tl.log2(q))
    return out


@triton.jit
def focal_terms(x, t, GAMMA: tl.constexpr):
    e = tl.exp(-tl.abs(x))
    low = e / (1.0 + e)
    high = 1.0 / (1.0 + e)
    p = tl.where(x > 0, high, low)
    p_not = tl.where(x > 0, low, high)
    log1p = libdevice.log1p(e)
    ce = t * (tl.maximum(-x, 0.0) + log1p) + (1.0 - t) * (tl.maximum(x, 0.0) + log1p)
    q = t * p_not + (1.0 - t) * p
    return p, p_not, ce, q, power(q, GAMMA)


@triton.jit
def focal_forward_kernel(
    x_ptr, t_ptr, out_ptr, numel, w_pos, w_neg, inv_numel, GAMMA: tl.constexpr, BLOCK: tl.constexpr
):
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(tl.program_id(0) * BLOCK, numel, tl.num_programs(0) * BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < numel
        x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        t = tl.load(t_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        _, _, ce, _, mod = focal_terms(x, t, GAMMA)
        loss = (w_pos * t + w_neg * (1.0 - t)) * mod * ce
        acc += tl.where(mask, loss, 0.0)
    tl.atomic_add(out_ptr, tl.sum(acc, axis=0) * inv_numel)


@triton.jit
def focal_backward_kernel(
    dout_ptr, x_ptr, t_ptr, dx_ptr, numel, w_pos, w_neg, inv_numel, GAMMA: tl.constexpr, BLOCK: tl.constexpr
):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < numel
    x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    t = tl.load(t_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    p, p_not, ce, q, mod = focal_terms(x, t, GAMMA)
    dce = (1.0 - t) * p - t * p_not
    dq = (1.0 - 2.0 * t) * p * p_not
    ratio = tl.where(q > 0, dq / q, 0.0)
    grad = (w_pos * t + w_neg * (1.0 - t)) * mod * (dce + GAMMA * ce * ratio)
    tl.store(dx_ptr + offs, grad * (tl.load(dout_ptr) * inv_numel), mask=mask)


def num_sms(device):
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 64


class SigmoidFocalLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target, alpha, gamma):
        assert logits.shape == target.shape
        numel = logits.numel()
        if numel == 0:
            out = torch.full((), float("nan"), device=logits.device)
        else:
            out = torch.zeros((), dtype=torch.float32, device=logits.device)
        w_pos, w_neg = (alpha, 1.0 - alpha) if alpha >= 0 else (1.0, 1.0)
        ctx.args = (numel, w_pos, w_neg, 1.0 / max(numel, 1))
        ctx.gamma = float(gamma)
        ctx.save_for_backward(logits, target)
        if numel > 0:
            sms = (
                torch.cuda.get_device_properties(logits.device).multi_processor_count
                if logits.is_cuda
                else 64
            )
            grid = (min(triton.cdiv(numel, 1024), sms * 16),)
            focal_forward_kernel[grid](
                logits, target, out, *ctx.args, GAMMA=ctx.gamma, BLOCK=1024, num_warps=4
            )
        return out

    @staticmethod
    def backward(ctx, dout):
        logits, target = ctx.saved_tensors
        dx = torch.empty_like(logits)
        grid = (triton.cdiv(logits.numel(), 1024),)
        focal_backward_kernel[grid](
            dout, logits, target, dx, *ctx.args, GAMMA=ctx.gamma, BLOCK=1024, num_warps=4
        )
        return dx, None, None, None


def sigmoid_focal_loss(logits, target, alpha, gamma):
    return SigmoidFocalLoss.apply(logits, target, alpha, gamma)
