"""A running maximum and sum a row; logsumexp is kept; losses and rows are counted by atomics."""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_forward(X, T, LSE, SUMS, V, step, skip, eps, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    t = tl.load(T + r)
    if t != skip:
        top = -float("inf")
        total = 0.0
        plain = 0.0
        for start in range(0, V, BLOCK):
            c = start + tl.arange(0, BLOCK)
            x = tl.load(X + r * step + c, mask=c < V, other=-float("inf")).to(tl.float32)
            new = tl.maximum(top, tl.max(x, axis=0))
            base = tl.where(new == -float("inf"), 0.0, new)
            total = total * tl.exp(top - base) + tl.sum(tl.exp(x - base), axis=0)
            plain += tl.sum(tl.where(c < V, x, 0.0), axis=0)
            top = new
        lse = top + tl.log(total)
        at = tl.load(X + r * step + t).to(tl.float32)
        loss = lse - at
        if eps > 0:
            loss = (1 - eps) * loss + eps * (lse - plain / V)
        tl.store(LSE + r, lse)
        tl.atomic_add(SUMS, loss)
        tl.atomic_add(SUMS + 1, 1.0)


@triton.jit
def divide(SUMS, OUT):
    tl.store(OUT, tl.load(SUMS) / tl.load(SUMS + 1))


@triton.jit
def rows_backward(D, X, T, LSE, SUMS, DX, V, step, skip, eps, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    t = tl.load(T + r)
    valid = t != skip
    lse = tl.load(LSE + r, mask=valid, other=0.0)
    by = tl.load(D) / tl.maximum(tl.load(SUMS + 1), 1.0)
    for start in range(0, V, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(X + r * step + c, mask=(c < V) & valid, other=0.0).to(tl.float32)
        g = tl.exp(x - lse) - eps / V
        g = tl.where(c == t, g - (1 - eps), g) * by
        tl.store(DX + r * V + c, tl.where(valid, g, 0.0), mask=c < V)


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target, skip, eps):
        M, V = logits.shape
        lse = torch.empty(M, dtype=torch.float32, device=logits.device)
        sums = torch.zeros(2, dtype=torch.float32, device=logits.device)
        out = torch.empty((), dtype=torch.float32, device=logits.device)
        rows_forward[(M,)](logits, target, lse, sums, V, logits.stride(0), skip, eps, BLOCK=4096, num_warps=8)
        divide[(1,)](sums, out)
        ctx.save_for_backward(logits, target, lse, sums)
        ctx.rest = skip, eps
        return out

    @staticmethod
    def backward(ctx, dout):
        logits, target, lse, sums = ctx.saved_tensors
        M, V = logits.shape
        dx = torch.empty((M, V), dtype=logits.dtype, device=logits.device)
        rows_backward[(M,)](
            dout, logits, target, lse, sums, dx, V, logits.stride(0), *ctx.rest, BLOCK=4096, num_warps=8
        )
        return dx, None, None, None


def cross_entropy(logits, target, ignore_index, label_smoothing):
    return Loss.apply(logits, target, ignore_index, label_smoothing)
