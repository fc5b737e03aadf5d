"""All of it in this file: an attention that stores no scores, and writes its context as [b, s, e]."""

import torch
import triton
import triton.language as tl


@triton.jit
def dense(X, W, Bias, Y, M, N, K, T, xb, xt, SIDE: tl.constexpr):
    rows = tl.program_id(1) * SIDE + tl.arange(0, SIDE)
    cols = tl.program_id(0) * SIDE + tl.arange(0, SIDE)
    start = X + (rows // T).to(tl.int64) * xb + (rows % T).to(tl.int64) * xt
    acc = tl.zeros((SIDE, SIDE), tl.float32)
    if Bias is not None:
        acc += tl.load(Bias + cols, cols < N, 0.0).to(tl.float32)[None, :]
    for first in range(0, K, SIDE):
        ks = first + tl.arange(0, SIDE)
        x = tl.load(start[:, None] + ks[None, :], (rows < M)[:, None] & (ks < K)[None, :], 0.0)
        w = tl.load(
            W + cols.to(tl.int64)[None, :] * K + ks[:, None], (cols < N)[None, :] & (ks < K)[:, None], 0.0
        )
        acc = tl.dot(x, w, acc, input_precision="ieee")
    at = Y + rows.to(tl.int64)[:, None] * N + cols[None, :]
    tl.store(at, acc.to(Y.dtype.element_ty), (rows < M)[:, None] & (cols < N)[None, :])


@triton.jit
def attend(
    QKV, OUT, S, E, D, scale, CAUSAL: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr, DIMS: tl.constexpr
):
    head, batch = tl.program_id(1), tl.program_id(2).to(tl.int64)
    base = QKV + batch * S * 3 * E + head * D
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    dims = tl.arange(0, DIMS)
    inside = (rows < S)[:, None] & (dims < D)[None, :]
    q = tl.load(base + rows.to(tl.int64)[:, None] * 3 * E + dims[None, :], inside, 0.0)
    top = tl.full((ROWS,), -1e30, tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    acc = tl.zeros((ROWS, DIMS), tl.float32)
    for first in range(0, S, KEYS):
        keys = first + tl.arange(0, KEYS)
        place = base + keys.to(tl.int64)[:, None] * 3 * E + dims[None, :]
        there = (keys < S)[:, None] & (dims < D)[None, :]
        k, v = tl.load(place + E, there, 0.0), tl.load(place + 2 * E, there, 0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        seen = (keys < S)[None, :] & (rows >= 0)[:, None]
        if CAUSAL:
            seen = seen & (keys[None, :] <= rows[:, None])
        s = tl.where(seen, s, -float("inf"))
        new = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        shrink = tl.exp(top - new)
        total = total * shrink + tl.sum(p, axis=1)
        acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None], input_precision="ieee")
        top = new
    out = OUT + (batch * S + rows)[:, None] * E + head * D + dims[None, :]
    tl.store(out, (acc / total[:, None]).to(OUT.dtype.element_ty), inside)


def projected(x, w, bias):
    b, s, e = x.shape
    y = torch.empty((b, s, len(w)), dtype=x.dtype, device=x.device)
    dense[(triton.cdiv(len(w), 32), triton.cdiv(b * s, 32))](
        x, w, bias, y, b * s, len(w), e, s, x.stride(0), x.stride(1), SIDE=32
    )
    return y


def self_attention(x, w_qkv, b_qkv, w_out, b_out, num_heads, causal):
    b, s, e = x.shape
    d = e // num_heads
    qkv = projected(x, w_qkv, b_qkv)
    context = torch.empty((b, s, e), dtype=x.dtype, device=x.device)
    attend[(triton.cdiv(s, 32), num_heads, b)](
        qkv,
        context,
        s,
        e,
        d,
        d**-0.5,
        CAUSAL=causal,
        ROWS=32,
        KEYS=32,
        DIMS=max(16, triton.next_power_of_2(d)),
    )
    return projected(context, w_out, b_out)
