"""Attention in three kernels: strides as constexpr, flat grids, many rows of the softmax a program."""

import torch
import triton
import triton.language as tl


@triton.jit
def head_offset(bh, H: tl.constexpr, stride_b: tl.constexpr, stride_h: tl.constexpr):
    return (bh // H) * stride_b + (bh % H) * stride_h


@triton.heuristics({"EVEN_D": lambda args: args["D"] == args["BLOCK_D"]})
@triton.jit
def scores_kernel(
    q_ptr,
    k_ptr,
    s_ptr,
    Sq,
    Sk,
    scale,
    H: tl.constexpr,
    D: tl.constexpr,
    sqb: tl.constexpr,
    sqh: tl.constexpr,
    sqm: tl.constexpr,
    sqd: tl.constexpr,
    skb: tl.constexpr,
    skh: tl.constexpr,
    skn: tl.constexpr,
    skd: tl.constexpr,
    CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
    EVEN_D: tl.constexpr,
):
    pid = tl.program_id(0)
    num_m, num_n = tl.cdiv(Sq, BLOCK_M), tl.cdiv(Sk, BLOCK_N)
    bh = pid // (num_m * num_n)
    pid_m = pid // num_n % num_m
    pid_n = pid % num_n
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    rd = tl.arange(0, BLOCK_D)
    q_ptrs = q_ptr + head_offset(bh, H, sqb, sqh) + rm[:, None] * sqm + rd[None, :] * sqd
    k_ptrs = k_ptr + head_offset(bh, H, skb, skh) + rn[:, None] * skn + rd[None, :] * skd
    if EVEN_D:
        q = tl.load(q_ptrs, mask=rm[:, None] < Sq, other=0.0)
        k = tl.load(k_ptrs, mask=rn[:, None] < Sk, other=0.0)
    else:
        q = tl.load(q_ptrs, mask=(rm[:, None] < Sq) & (rd[None, :] < D), other=0.0)
        k = tl.load(k_ptrs, mask=(rn[:, None] < Sk) & (rd[None, :] < D), other=0.0)
    s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
    if CAUSAL:
        s += tl.where(rn[None, :] > rm[:, None] + Sk - Sq, float("-inf"), 0.0)
    tl.store(
        s_ptr + (bh * Sq + rm[:, None]) * Sk + rn[None, :], s, mask=(rm[:, None] < Sq) & (rn[None, :] < Sk)
    )


@triton.jit
def softmax_kernel(s_ptr, p_ptr, n_rows, Sk, ROWS: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < Sk)
    offs = rows[:, None] * Sk + cols[None, :]
    s = tl.load(s_ptr + offs, mask=mask, other=float("-inf"))
    m = tl.max(s, axis=1)
    e = tl.exp(s - tl.where(m == float("-inf"), 0.0, m)[:, None])
    denom = tl.sum(e, axis=1)
    p = e / tl.where(denom == 0.0, 1.0, denom)[:, None]
    tl.store(p_ptr + offs, p.to(p_ptr.dtype.element_ty), mask=mask)


@triton.jit
def values_kernel(
    p_ptr,
    v_ptr,
    o_ptr,
    Sq,
    Sk,
    H: tl.constexpr,
    D: tl.constexpr,
    svb: tl.constexpr,
    svh: tl.constexpr,
    svn: tl.constexpr,
    svd: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    pid = tl.program_id(0)
    num_m = tl.cdiv(Sq, BLOCK_M)
    bh, pid_m = pid // num_m, pid % num_m
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rd = tl.arange(0, BLOCK_D)
    acc = tl.zeros([BLOCK_M, BLOCK_D], dtype=tl.float32)
    for k in tl.range(0, tl.cdiv(Sk, BLOCK_N)):
        rn = k * BLOCK_N + tl.arange(0, BLOCK_N)
        p = tl.load(
            p_ptr + (bh * Sq + rm[:, None]) * Sk + rn[None, :],
            mask=(rm[:, None] < Sq) & (rn[None, :] < Sk),
            other=0.0,
        )
        v_ptrs = v_ptr + head_offset(bh, H, svb, svh) + rn[:, None] * svn + rd[None, :] * svd
        v = tl.load(v_ptrs, mask=(rn[:, None] < Sk) & (rd[None, :] < D), other=0.0)
        acc = tl.dot(p, v, acc=acc, input_precision="ieee")
    tl.store(
        o_ptr + (bh * Sq + rm[:, None]) * D + rd[None, :], acc, mask=(rm[:, None] < Sq) & (rd[None, :] < D)
    )


def attention(q, k, v, scale, causal):
    B, H, Sq, D = q.shape
    Sk = k.shape[2]
    o = q.new_empty(B, H, Sq, D)
    s = torch.empty((B, H, Sq, Sk), dtype=torch.float32, device=q.device)
    p = torch.empty_like(s, dtype=q.dtype)
    rows = B * H * Sq
    if rows == 0:
        return o
    BLOCK_D = triton.next_power_of_2(D)
    tiles_m = B * H * triton.cdiv(Sq, 32)
    scores_kernel[(tiles_m * triton.cdiv(Sk, 32),)](
        q,
        k,
        s,
        Sq,
        Sk,
        scale,
        H,
        D,
        *q.stride(),
        *k.stride(),
        CAUSAL=causal,
        BLOCK_M=32,
        BLOCK_N=32,
        BLOCK_D=BLOCK_D,
    )
    BLOCK_N = triton.next_power_of_2(Sk)
    ROWS = max(1, 2048 // BLOCK_N)
    softmax_kernel[(triton.cdiv(rows, ROWS),)](s, p, rows, Sk, ROWS=ROWS, BLOCK_N=BLOCK_N)
    values_kernel[(tiles_m,)](p, v, o, Sq, Sk, H, D, *v.stride(), BLOCK_M=32, BLOCK_N=32, BLOCK_D=BLOCK_D)
    return o
