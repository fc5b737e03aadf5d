"""A query a program and no tl.dot: products by broadcasting; causal rows end at the last key they see."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def score_row(
    q_ptr,
    k_ptr,
    s_ptr,
    H,
    Sq,
    Sk,
    D,
    qb,
    qh,
    qs,
    qd,
    kb,
    kh,
    ks,
    kd,
    scale,
    causal: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    b, h, i = row // (H * Sq), row // Sq % H, row % Sq
    d = tl.arange(0, BLOCK_D)
    q_row = q_ptr + b * qb + h * qh + i * qs
    q = tl.load(q_row + d * qd, mask=d < D, other=0).to(tl.float32) * scale
    for start in range(0, Sk, BLOCK_N):
        j = start + tl.arange(0, BLOCK_N)
        k_rows = k_ptr + b * kb + h * kh + j[:, None].to(tl.int64) * ks
        k = tl.load(k_rows + d[None, :] * kd, mask=(j < Sk)[:, None] & (d < D)[None, :], other=0)
        s = tl.sum(q[None, :] * k.to(tl.float32), axis=1)
        if causal:
            s += tl.where(j > i + Sk - Sq, float("-inf"), 0.0)
        tl.store(s_ptr + row * Sk + j, s, mask=j < Sk)


@triton.jit
def normalise(s_ptr, Sk, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * Sk + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < Sk
    s = tl.load(s_ptr + at, mask=mask, other=float("-inf"))
    e = tl.exp(s - tl.maximum(tl.max(s, axis=0), -3e38))
    total = tl.sum(e, axis=0)
    tl.store(s_ptr + at, e / tl.where(total == 0, 1, total), mask=mask)


@triton.jit
def gather_row(
    p_ptr,
    v_ptr,
    o_ptr,
    H,
    Sq,
    Sk,
    D,
    vb,
    vh,
    vs,
    vd,
    causal: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    b, h, i = row // (H * Sq), row // Sq % H, row % Sq
    d = tl.arange(0, BLOCK_D)
    acc = tl.zeros((BLOCK_D,), tl.float32)
    end = Sk
    if causal:
        end = tl.minimum(i + 1 + Sk - Sq, Sk).to(tl.int32)
    for start in range(0, end, BLOCK_N):
        j = start + tl.arange(0, BLOCK_N)
        v_rows = v_ptr + b * vb + h * vh + j[:, None].to(tl.int64) * vs
        v = tl.load(v_rows + d[None, :] * vd, mask=(j < Sk)[:, None] & (d < D)[None, :], other=0)
        p = tl.load(p_ptr + row * Sk + j, mask=j < Sk, other=0)
        acc += tl.sum(p[:, None] * v.to(tl.float32), axis=0)
    tl.store(o_ptr + row * D + d, acc.to(o_ptr.dtype.element_ty), mask=d < D)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
    B, H, Sq, D = q.shape
    Sk = k.size(2)
    rows, wide = (B * H * Sq,), triton.next_power_of_2(D)
    p = torch.empty((*rows, Sk), dtype=torch.float32, device=q.device)
    o = q.new_empty(q.shape)
    score_row[rows](
        q, k, p, H, Sq, Sk, D, *q.stride(), *k.stride(), scale, causal=causal, BLOCK_N=32, BLOCK_D=wide
    )
    normalise[rows](p, Sk, BLOCK=triton.next_power_of_2(Sk))
    gather_row[rows](p, v, o, H, Sq, Sk, D, *v.stride(), causal=causal, BLOCK_N=64, BLOCK_D=wide)
    return o
