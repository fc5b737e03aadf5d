"""Weighted BCE: libdevice.log1p, flat blocks with a column by modulo, partial sums, a fused class; int32."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def _load_all(X, T, W, P, offs, mask, n_cols, HAS_W: tl.constexpr, HAS_P: tl.constexpr):
    x = tl.load(X + offs, mask=mask, other=0.0).to(tl.float32)
    t = tl.load(T + offs, mask=mask, other=0.0).to(tl.float32)
    w = 1.0
    p = 1.0
    if HAS_W:
        w = tl.load(W + offs, mask=mask, other=0.0).to(tl.float32)
    if HAS_P:
        p = tl.load(P + offs % n_cols, mask=mask, other=0.0).to(tl.float32)
    return x, t, w, p


@triton.jit
def bce_fwd(X, T, W, P, Part, n, n_cols, HAS_W: tl.constexpr, HAS_P: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x, t, w, p = _load_all(X, T, W, P, offs, mask, n_cols, HAS_W, HAS_P)
    soft = libdevice.log1p(tl.exp(-tl.abs(x)))
    pos = soft + tl.where(x < 0, -x, 0.0)
    neg = soft + tl.where(x > 0, x, 0.0)
    loss = w * (p * t * pos + (1.0 - t) * neg)
    tl.store(Part + pid, tl.sum(tl.where(mask, loss, 0.0), axis=0))


@triton.jit
def sum_parts(Part, Out, n_parts, n, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), tl.float32)
    for i in range(0, n_parts, BLOCK):
        offs = i + tl.arange(0, BLOCK)
        acc += tl.load(Part + offs, mask=offs < n_parts, other=0.0)
    tl.store(Out, tl.sum(acc, axis=0) / n)


@triton.jit
def bce_bwd(DY, X, T, W, P, DX, n, n_cols, HAS_W: tl.constexpr, HAS_P: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x, t, w, p = _load_all(X, T, W, P, offs, mask, n_cols, HAS_W, HAS_P)
    dx = w * ((1.0 - t) * tl.sigmoid(x) - p * t * tl.sigmoid(-x))
    tl.store(DX + offs, dx * (tl.load(DY) / n), mask=mask)


class WeightedBCEWithLogits(torch.autograd.Function):
    BLOCK = 2048

    @staticmethod
    def forward(ctx, logits, target, weight, pos_weight):
        n, n_cols = logits.numel(), logits.shape[-1]
        n_parts = triton.cdiv(n, WeightedBCEWithLogits.BLOCK)
        part = torch.empty(n_parts, dtype=torch.float32, device=logits.device)
        out = torch.empty((), dtype=torch.float32, device=logits.device)
        ctx.flags = {"HAS_W": weight is not None, "HAS_P": pos_weight is not None, "BLOCK": 2048}
        bce_fwd[(n_parts,)](logits, target, weight, pos_weight, part, n, n_cols, num_warps=8, **ctx.flags)
        sum_parts[(1,)](part, out, n_parts, n, BLOCK=8192, num_warps=16)
        ctx.save_for_backward(logits, target, weight, pos_weight)
        return out

    @staticmethod
    def backward(ctx, dy):
        logits, target, weight, pos_weight = ctx.saved_tensors
        dx = torch.empty_like(logits)
        n = logits.numel()
        bce_bwd[(triton.cdiv(n, 2048),)](
            dy, logits, target, weight, pos_weight, dx, n, logits.shape[-1], num_warps=8, **ctx.flags
        )
        return dx, None, None, None


weighted_bce = WeightedBCEWithLogits.apply
