"""Gumbel noise; the best (value, column) of the lanes by tl.reduce with a function of the file."""

import torch
import triton
import triton.language as tl


@triton.jit
def better(va, ia, vb, ib):
    take = (va > vb) | ((va == vb) & (ia < ib))
    return tl.where(take, va, vb), tl.where(take, ia, ib)


@triton.jit
def pick(x, out, V, s, t, seed, GREEDY: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    bv = tl.full((B,), float("-inf"), tl.float32)
    bi = tl.full((B,), 2147483647, tl.int32)
    for c0 in range(0, V, B):
        c = c0 + tl.arange(0, B)
        v = tl.load(x + row * s + c, mask=c < V, other=float("-inf")).to(tl.float32)
        if not GREEDY:
            u = tl.rand(seed, row * V + c)
            u = tl.maximum(u, 1e-10)
            v = v / t - tl.log(-tl.log(u))
        v = tl.where(c < V, v, float("-inf"))
        bv, bi = better(bv, bi, v, tl.where(c < V, c, 2147483647))
    _, best = tl.reduce((bv, bi), 0, better)
    tl.store(out + row, best.to(tl.int64))


def sample(logits, temperature, seed):
    m, v = logits.shape
    out = torch.empty(m, dtype=torch.int64, device=logits.device)
    if m:
        pick[(m,)](
            logits,
            out,
            v,
            logits.stride(0),
            max(temperature, 1e-6),
            seed,
            GREEDY=temperature == 0,
            B=min(4096, triton.next_power_of_2(v)),
            num_warps=8,
        )
    return out
