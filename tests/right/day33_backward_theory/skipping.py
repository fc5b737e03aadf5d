"""Three-dimensional grid; tiles that a causal mask hides whole are filled with zeros and read nothing."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def delta_tile(
    o_ptr, do_ptr, out_ptr, S, D, stride_ob, stride_oh, stride_os, stride_gb, stride_gh, stride_gs,
    BLOCK_M: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    h, b = tl.program_id(1).to(tl.int64), tl.program_id(2).to(tl.int64)
    total = tl.zeros((BLOCK_M,), tl.float32)
    for start in range(0, D, BLOCK_D):
        col = start + tl.arange(0, BLOCK_D)
        mask = (row < S)[:, None] & (col < D)[None, :]
        at_o = b * stride_ob + h * stride_oh + row.to(tl.int64)[:, None] * stride_os + col[None, :]
        at_g = b * stride_gb + h * stride_gh + row.to(tl.int64)[:, None] * stride_gs + col[None, :]
        o = tl.load(o_ptr + at_o, mask=mask, other=0.0).to(tl.float32)
        g = tl.load(do_ptr + at_g, mask=mask, other=0.0).to(tl.float32)
        total += tl.sum(o * g, axis=1)
    tl.store(out_ptr + (b * tl.num_programs(1) + h) * S + row, total, mask=row < S)


def delta(o: torch.Tensor, do: torch.Tensor) -> torch.Tensor:
    B, H, S, D = o.shape
    out = o.new_empty((B, H, S), dtype=torch.float32)
    delta_tile[(triton.cdiv(S, 32), H, B)](
        o, do, out, S, D, *o.stride()[:3], *do.stride()[:3], BLOCK_M=32, BLOCK_D=32
    )
    return out


@triton.jit
def tile(x_ptr, b, h, row, rows, stride_b, stride_h, stride_s, D: tl.constexpr, BLOCK_D: tl.constexpr):
    col = tl.arange(0, BLOCK_D)
    mask = (row < rows)[:, None] & (col < D)[None, :]
    return tl.load(
        x_ptr + b * stride_b + h * stride_h + row.to(tl.int64)[:, None] * stride_s + col[None, :],
        mask=mask,
        other=0.0,
    )


@triton.jit
def ds_tile(
    q_ptr, k_ptr, v_ptr, g_ptr, lse_ptr, delta_ptr, ds_ptr, H, Sq, Sk, scale,
    qb, qh, qs, kb, kh, ks, vb, vh, vs, gb, gh, gs,
    CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    head = tl.program_id(2).to(tl.int64)
    b, h = head // H, head % H
    out = ds_ptr + (head * Sq + i)[:, None] * Sk + j[None, :]
    inside = (i < Sq)[:, None] & (j < Sk)[None, :]
    seen = j[None, :] <= (i + (Sk - Sq if CAUSAL else Sk))[:, None]
    if CAUSAL and tl.program_id(0) * BLOCK > (tl.program_id(1) + 1) * BLOCK - 1 + Sk - Sq:
        tl.store(out, tl.zeros((BLOCK, BLOCK), tl.float32), mask=inside)
    else:
        q = tile(q_ptr, b, h, i, Sq, qb, qh, qs, D, BLOCK_D)
        k = tile(k_ptr, b, h, j, Sk, kb, kh, ks, D, BLOCK_D)
        v = tile(v_ptr, b, h, j, Sk, vb, vh, vs, D, BLOCK_D)
        g = tile(g_ptr, b, h, i, Sq, gb, gh, gs, D, BLOCK_D)
        lse = tl.load(lse_ptr + head * Sq + i, mask=i < Sq, other=float("inf"))
        row = tl.load(delta_ptr + head * Sq + i, mask=i < Sq, other=0.0)
        s = tl.where(seen, tl.dot(q, tl.trans(k), input_precision="ieee") * scale, -float("inf"))
        p = tl.where(s == -float("inf"), 0.0, tl.exp(s - lse[:, None]))
        tl.store(out, (tl.dot(g, tl.trans(v), input_precision="ieee") - row[:, None]) * p, mask=inside)


def dscores(q, k, v, do, lse, delta, scale, causal):
    B, H, Sq, D = q.shape
    Sk = k.shape[2]
    ds = q.new_empty((B, H, Sq, Sk), dtype=torch.float32)
    BLOCK = 32 if q.is_cuda else 64
    ds_tile[(triton.cdiv(Sk, BLOCK), triton.cdiv(Sq, BLOCK), B * H)](
        q, k, v, do, lse, delta, ds, H, Sq, Sk, scale,
        *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *do.stride()[:3],
        CAUSAL=causal, D=D, BLOCK=BLOCK, BLOCK_D=max(16, triton.next_power_of_2(D)), num_warps=4,
    )  # fmt: skip
    return ds
