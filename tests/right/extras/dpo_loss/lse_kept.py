"""A running maximum and sum a token, logsumexp kept, a program walks a whole row; log1p by libdevice."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def tokens_forward(X, T, OUT, LSE, S, V, xb, xs, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    x_row = X + (i // S) * xb + (i % S) * xs
    t = tl.load(T + i)
    out = 0.0
    if t >= 0:
        top = -float("inf")
        total = 0.0
        for start in range(0, V, BLOCK):
            c = start + tl.arange(0, BLOCK)
            x = tl.load(x_row + c, mask=c < V, other=-float("inf")).to(tl.float32)
            new = tl.maximum(top, tl.max(x, axis=0))
            base = tl.where(new == -float("inf"), 0.0, new)
            total = total * tl.exp(top - base) + tl.sum(tl.exp(x - base), axis=0)
            top = new
        lse = top + tl.log(total)
        out = tl.load(x_row + t).to(tl.float32) - lse
        tl.store(LSE + i, lse)
    tl.store(OUT + i, out)


@triton.jit
def tokens_backward(D, X, T, LSE, DX, S, V, db, ds, xb, xs, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    x_row = X + (i // S) * xb + (i % S) * xs
    t = tl.load(T + i)
    used = t >= 0
    lse = tl.load(LSE + i, mask=used, other=0.0)
    d = tl.load(D + (i // S) * db + (i % S) * ds)
    for start in range(0, V, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + c, mask=(c < V) & used, other=0.0).to(tl.float32)
        g = -tl.exp(x - lse)
        g = tl.where(c == t, g + 1, g) * d
        tl.store(DX + i * V + c, tl.where(used, g, 0.0), mask=c < V)


@triton.jit
def pairs_forward(PC, PR, RC, RR, LOSS, C, R, Z, N, beta, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = beta * (tl.load(PC + i, i < N) - tl.load(RC + i, i < N))
    r = beta * (tl.load(PR + i, i < N) - tl.load(RR + i, i < N))
    z = c - r
    tl.store(LOSS + i, tl.maximum(-z, 0.0, tl.PropagateNan.ALL) + libdevice.log1p(tl.exp(-tl.abs(z))), i < N)
    tl.store(C + i, c, i < N)
    tl.store(R + i, r, i < N)
    tl.store(Z + i, z, i < N)


@triton.jit
def pairs_backward(DL, DC, DR, Z, GC, GR, N, a, b, c, beta, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    pull = tl.load(DL + i * a, i < N) / (1 + tl.exp(tl.load(Z + i, i < N)))
    tl.store(GC + i, beta * (tl.load(DC + i * b, i < N) - pull), i < N)
    tl.store(GR + i, beta * (tl.load(DR + i * c, i < N) + pull), i < N)


class Tokens(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, t):
        B, S, V = x.shape
        lse, out = (torch.empty((B, S), dtype=torch.float32, device=x.device) for _ in range(2))
        tokens_forward[(B * S,)](x, t, out, lse, S, V, *x.stride()[:2], BLOCK=4096, num_warps=8)
        ctx.save_for_backward(x, t, lse)
        return out

    @staticmethod
    def backward(ctx, d):
        x, t, lse = ctx.saved_tensors
        B, S, V = x.shape
        dx = torch.empty((B, S, V), dtype=x.dtype, device=x.device)
        tokens_backward[(B * S,)](
            d, x, t, lse, dx, S, V, *d.stride(), *x.stride()[:2], BLOCK=4096, num_warps=8
        )
        return dx, None


class Pairs(torch.autograd.Function):
    @staticmethod
    def forward(ctx, pc, pr, rc, rr, beta):
        loss, c, r, z = (torch.empty_like(pc) for _ in range(4))
        pairs_forward[(triton.cdiv(len(pc), 128),)](pc, pr, rc, rr, loss, c, r, z, len(pc), beta, BLOCK=128)
        ctx.save_for_backward(z)
        ctx.beta = beta
        return loss, c, r

    @staticmethod
    def backward(ctx, dl, dc, dr):
        (z,) = ctx.saved_tensors
        gc, gr = torch.empty_like(z), torch.empty_like(z)
        strides = [d.stride(0) for d in (dl, dc, dr)]
        pairs_backward[(triton.cdiv(len(z), 128),)](
            dl, dc, dr, z, gc, gr, len(z), *strides, ctx.beta, BLOCK=128
        )
        return gc, gr, None, None, None


token_logprobs = Tokens.apply
dpo_loss = Pairs.apply
