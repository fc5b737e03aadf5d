"""Attention in three kernels by block pointers and tl.advance, heads on axis 1, softmax by exp2 in chunks.

May have limits.
"""

import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def scores_kernel(
    Q,
    K,
    S,
    H,
    M,
    N,
    D,
    qb,
    qh,
    qm,
    qd,
    kb,
    kh,
    kn,
    kd,
    scale,
    CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    start_m = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1)
    start_n = tl.program_id(2) * BLOCK_N
    b, h = head // H, head % H
    Q_block = tl.make_block_ptr(
        Q + b * qb + h * qh, (M, D), (qm, qd), (start_m, 0), (BLOCK_M, BLOCK_D), (1, 0)
    )
    K_block = tl.make_block_ptr(
        K + b * kb + h * kh, (D, N), (kd, kn), (0, start_n), (BLOCK_D, BLOCK_N), (0, 1)
    )
    S_block = tl.make_block_ptr(
        S + head * M * N, (M, N), (N, 1), (start_m, start_n), (BLOCK_M, BLOCK_N), (1, 0)
    )
    q = tl.load(Q_block, boundary_check=(0, 1), padding_option="zero")
    k = tl.load(K_block, boundary_check=(0, 1), padding_option="zero")
    s = tl.dot(q, k, input_precision="ieee") * scale
    if CAUSAL:
        rows = start_m + tl.arange(0, BLOCK_M)
        cols = start_n + tl.arange(0, BLOCK_N)
        s = tl.where(rows[:, None] + N - M >= cols[None, :], s, float("-inf"))
    tl.store(S_block, s, boundary_check=(0, 1))


@triton.jit
def softmax_kernel(S, P, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    S += row * N
    P += row * N
    m = tl.full((BLOCK,), float("-inf"), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        m = tl.maximum(m, tl.load(S + cols, mask=cols < N, other=float("-inf")))
    row_max = tl.max(m, axis=0)
    row_max = tl.where(row_max == float("-inf"), 0.0, row_max)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        s = tl.load(S + cols, mask=cols < N, other=float("-inf"))
        total += tl.exp2((s - row_max) * LOG2E)
    denom = tl.sum(total, axis=0)
    inv = tl.where(denom > 0.0, 1.0 / denom, tl.where(denom == 0.0, 0.0, denom))
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        s = tl.load(S + cols, mask=cols < N, other=float("-inf"))
        tl.store(P + cols, tl.exp2((s - row_max) * LOG2E) * inv, mask=cols < N)


@triton.jit
def output_kernel(
    P, V, Out, H, M, N, D, vb, vh, vn, vd, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr
):
    start_m = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1)
    base = V + (head // H) * vb + (head % H) * vh
    P_block = tl.make_block_ptr(P + head * M * N, (M, N), (N, 1), (start_m, 0), (BLOCK_M, BLOCK_N), (1, 0))
    V_block = tl.make_block_ptr(base, (N, D), (vn, vd), (0, 0), (BLOCK_N, BLOCK_D), (1, 0))
    acc = tl.zeros((BLOCK_M, BLOCK_D), dtype=tl.float32)
    for _ in range(0, N, BLOCK_N):
        p = tl.load(P_block, boundary_check=(0, 1), padding_option="zero")
        v = tl.load(V_block, boundary_check=(0, 1), padding_option="zero")
        acc += tl.dot(p, v, input_precision="ieee")
        P_block = tl.advance(P_block, (0, BLOCK_N))
        V_block = tl.advance(V_block, (BLOCK_N, 0))
    O_block = tl.make_block_ptr(Out + head * M * D, (M, D), (D, 1), (start_m, 0), (BLOCK_M, BLOCK_D), (1, 0))
    tl.store(O_block, acc.to(Out.dtype.element_ty), boundary_check=(0, 1))


def attention(q, k, v, scale, causal):
    B, H, M, D = q.shape
    N = k.shape[-2]
    out = torch.empty(B, H, M, D, dtype=q.dtype, device=q.device)
    scores = torch.empty(B, H, M, N, dtype=torch.float32, device=q.device)
    probs = torch.empty(B, H, M, N, dtype=q.dtype, device=q.device)
    if out.numel() == 0:
        return out
    blocks = {"BLOCK_M": 64, "BLOCK_N": 32, "BLOCK_D": triton.next_power_of_2(D)}
    scores_kernel[(triton.cdiv(M, 64), B * H, triton.cdiv(N, 32))](
        q, k, scores, H, M, N, D, *q.stride(), *k.stride(), scale, CAUSAL=causal, **blocks
    )
    softmax_kernel[(B * H * M,)](scores, probs, N, BLOCK=min(triton.next_power_of_2(N), 2048))
    output_kernel[(triton.cdiv(M, 64), B * H)](probs, v, out, H, M, N, D, *v.stride(), **blocks)
    return out
