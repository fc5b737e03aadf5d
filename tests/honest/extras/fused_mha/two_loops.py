"""Whole blocks of keys without a mask, then those on the diagonal and at the end; natural exponentials."""

import torch
import triton
import triton.language as tl


@triton.jit
def halves(base, C, S, at, T, step, N: tl.constexpr, P: tl.constexpr):
    pair = tl.arange(0, P)[None, :]
    at = at[:, None].to(tl.int64)
    ok = (at < T) & (pair < N)
    c, s = tl.load(C + at * N + pair, ok, 1.0), tl.load(S + at * N + pair, ok, 0.0)
    a = tl.load(base + at * step + pair, ok, 0.0)
    b = tl.load(base + at * step + N + pair, ok, 0.0)
    return (a * c - b * s).to(a.dtype), (a * s + b * c).to(a.dtype)


@triton.jit
def turn(
    begin, end, q1, q2, K, V, C, S, rows, T, step, scale, top, mass, out, CAUSAL: tl.constexpr,
    MASKED: tl.constexpr, N: tl.constexpr, P: tl.constexpr, W: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    dims = tl.arange(0, W)[None, :]
    for first in range(begin, end, KEYS):
        keys = first + tl.arange(0, KEYS)
        k1, k2 = halves(K, C, S, keys, T, step, N, P)
        v = tl.load(V + keys[:, None].to(tl.int64) * step + dims, (keys < T)[:, None] & (dims < 2 * N), 0.0)
        s = (tl.dot(q1, tl.trans(k1)) + tl.dot(q2, tl.trans(k2))) * scale
        if MASKED:
            ok = (keys < T)[None, :] & (rows >= 0)[:, None]
            if CAUSAL:
                ok = ok & (keys[None, :] <= rows[:, None])
            s = tl.where(ok, s, -1e38)
        new = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        fade = tl.exp(top - new)
        mass = mass * fade + tl.sum(p, axis=1)
        out = tl.dot(p.to(v.dtype), v, out * fade[:, None])
        top = new
    return top, mass, out


@triton.jit
def layer(
    X, C, S, Y, T, scale, HEADS: tl.constexpr, SHARED: tl.constexpr, CAUSAL: tl.constexpr, N: tl.constexpr,
    P: tl.constexpr, W: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    head, batch = tl.program_id(0) % HEADS, (tl.program_id(0) // HEADS).to(tl.int64)
    D: tl.constexpr = 2 * N
    step: tl.constexpr = (HEADS + 2 * (HEADS // SHARED)) * D
    X += batch * T * step
    K = X + HEADS * D + head // SHARED * D
    V = K + HEADS // SHARED * D
    # The last rows see the most keys, and go first.
    start = (tl.num_programs(1) - 1 - tl.program_id(1)) * ROWS
    rows = start + tl.arange(0, ROWS)
    q1, q2 = halves(X + head * D, C, S, rows, T, step, N, P)
    top = tl.full((ROWS,), -3e38, tl.float32)
    mass = tl.zeros((ROWS,), tl.float32)
    out = tl.zeros((ROWS, W), tl.float32)
    last = tl.minimum(start + ROWS, T) if CAUSAL else T
    whole = (start if CAUSAL else T) // KEYS * KEYS
    top, mass, out = turn(
        0, whole, q1, q2, K, V, C, S, rows, T, step, scale, top, mass, out, CAUSAL, False, N, P, W, KEYS
    )
    top, mass, out = turn(
        whole, last, q1, q2, K, V, C, S, rows, T, step, scale, top, mass, out, CAUSAL, True, N, P, W, KEYS
    )
    dims = tl.arange(0, W)[None, :]
    place = Y + ((batch * T + rows)[:, None] * HEADS + head) * D + dims
    tl.store(place, (out / mass[:, None]).to(Y.dtype.element_ty), (rows < T)[:, None] & (dims < D))


def fused_mha(qkv, cos, sin, num_heads, num_kv_heads, scale, causal):
    b, t = qkv.shape[:2]
    d = qkv.shape[2] // (num_heads + 2 * num_kv_heads)
    y = torch.empty((b, t, num_heads * d), dtype=qkv.dtype, device=qkv.device)
    pairs, width = (max(16, triton.next_power_of_2(n)) for n in (d // 2, d))
    layer[(b * num_heads, triton.cdiv(t, 128))](
        qkv, cos, sin, y, t, scale, HEADS=num_heads, SHARED=num_heads // num_kv_heads, CAUSAL=causal,
        N=d // 2, P=pairs, W=width, ROWS=128, KEYS=64, num_warps=8, num_stages=3,
    )  # fmt: skip
    return y
