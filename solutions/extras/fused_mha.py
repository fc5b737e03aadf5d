"""Extra: rotation, grouped heads and attention in one kernel, from one projection to the next."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)
LOWEST = tl.constexpr(-3.4028234e38)  # the lowest finite fp32


@triton.jit
def load_pairs(
    x_ptr, cos_ptr, sin_ptr, start, S, stride_m, D: tl.constexpr, BLOCK: tl.constexpr, HALF: tl.constexpr
):
    """Rows start to start + BLOCK of one head: both halves, and what turns them, [BLOCK, HALF] each.

    0 where there is no row or no pair. HALF is a power of 2, and at least D // 2.
    """
    offs_m = start + tl.arange(0, BLOCK)
    offs_p = tl.arange(0, HALF)
    mask = (offs_m < S)[:, None] & (offs_p < D // 2)[None, :]
    # 8 bytes a pair, from L2: all heads and all sequences read the same tables.
    angles = offs_m.to(tl.int64)[:, None] * (D // 2) + offs_p[None, :]
    cos = tl.load(cos_ptr + angles, mask=mask, other=0.0)
    sin = tl.load(sin_ptr + angles, mask=mask, other=0.0)
    x_ptrs = x_ptr + offs_m.to(tl.int64)[:, None] * stride_m + offs_p[None, :]
    x1 = tl.load(x_ptrs, mask=mask, other=0.0)
    x2 = tl.load(x_ptrs + D // 2, mask=mask, other=0.0)
    return x1, x2, cos, sin


@triton.jit
def turned(x1, x2, cos, sin):
    """Each pair turned by its position, in fp32; rounded once, to the dtype of x."""
    return (x1 * cos - x2 * sin).to(x1.dtype), (x2 * cos + x1 * sin).to(x1.dtype)


@triton.jit
def fused_mha_kernel(
    qkv_ptr,
    cos_ptr,
    sin_ptr,
    o_ptr,
    n_heads,
    S,
    scale,
    GROUP: tl.constexpr,
    CAUSAL: tl.constexpr,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    HALF: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """BLOCK_M queries of one head. GROUP query heads share a key head; BLOCK_D is at least D."""
    tiles_m = tl.cdiv(S, BLOCK_M)
    heads = tl.num_programs(0) // tiles_m  # of all sequences
    pid_bh = tl.program_id(0) % heads
    # 64 bits: a sequence may start 2**31 elements and more behind the first one.
    pid_b, pid_h = (pid_bh // n_heads).to(tl.int64), pid_bh % n_heads
    n_kv = n_heads // GROUP
    # A token's heads lie side by side: all of q, all of k, all of v.
    stride_m = (n_heads + 2 * n_kv) * D
    qkv_ptr += pid_b * S * stride_m
    k_ptr = qkv_ptr + (n_heads + pid_h // GROUP) * D
    v_ptr = k_ptr + n_kv * D
    # The last queries see the most keys: they go first, so that short programs fill the end.
    start_m = (tiles_m - 1 - tl.program_id(0) // heads) * BLOCK_M
    offs_m = start_m + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, BLOCK_D)
    # Once a program: what a kernel for the rotation would read and write, this one keeps in registers.
    x1, x2, cos, sin = load_pairs(
        qkv_ptr + pid_h * D, cos_ptr, sin_ptr, start_m, S, stride_m, D, BLOCK_M, HALF
    )
    q1, q2 = turned(x1, x2, cos, sin)
    x1, x2, cos, sin = load_pairs(k_ptr, cos_ptr, sin_ptr, 0, S, stride_m, D, BLOCK_N, HALF)
    m_i = tl.full((BLOCK_M,), LOWEST, tl.float32)
    l_i = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    edge, end = S // BLOCK_N * BLOCK_N, S
    if CAUSAL:
        # Keys behind the last query of this block are seen by none: half of all products.
        edge, end = start_m // BLOCK_N * BLOCK_N, tl.minimum(S, start_m + BLOCK_M)
    # The same loop twice: without a mask up to the edge, with it from there to the last key that is seen.
    for MASKED in tl.static_range(2):
        for start_n in range(edge if MASKED else 0, end if MASKED else edge, BLOCK_N):
            # Once for each block of queries: the price of storing nothing.
            k1, k2 = turned(x1, x2, cos, sin)
            # 12 bytes a pair, for the next turn: they arrive in registers while this one multiplies.
            next_n = start_n + BLOCK_N
            x1, x2, cos, sin = load_pairs(k_ptr, cos_ptr, sin_ptr, next_n, S, stride_m, D, BLOCK_N, HALF)
            offs_n = start_n + tl.arange(0, BLOCK_N)
            v_ptrs = v_ptr + offs_n.to(tl.int64)[:, None] * stride_m + offs_d[None, :]
            v = tl.load(v_ptrs, mask=(offs_n < S)[:, None] & (offs_d < D)[None, :], other=0.0)
            # A head's product is that of its halves, added up: they need never stand side by side.
            qk = tl.dot(q2, k2.T, tl.dot(q1, k1.T)) * (scale * LOG2_E)
            if MASKED:
                seen = (offs_n < S)[None, :]
                if CAUSAL:
                    seen = seen & (offs_n[None, :] <= offs_m[:, None])
                qk = tl.where(seen, qk, -float("inf"))
            m_new = tl.maximum(m_i, tl.max(qk, axis=1))
            p = tl.exp2(qk - m_new[:, None])
            alpha = tl.exp2(m_i - m_new)
            l_i = l_i * alpha + tl.sum(p, axis=1)
            acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
            m_i = m_new
    # Token by token, as the next projection reads it: the heads are merged by where they are stored.
    o_ptrs = o_ptr + ((pid_b * S + offs_m)[:, None] * n_heads + pid_h) * D + offs_d[None, :]
    tl.store(o_ptrs, acc / l_i[:, None], mask=(offs_m < S)[:, None] & (offs_d < D)[None, :])


def fused_mha(
    qkv: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    num_heads: int,
    num_kv_heads: int,
    scale: float,
    causal: bool,
) -> torch.Tensor:
    """Return attention of rotated q and k as [b, s, h * d], from qkv[b, s, (h + 2 h_k) * d], contiguous.

    cos, sin[s, d / 2] fp32: element i of a head turns with element i + d / 2. fp16 or bf16, d even, <= 128.
    """
    B, S, width = qkv.shape
    D = width // (num_heads + 2 * num_kv_heads)
    o = torch.empty(B, S, num_heads * D, dtype=qkv.dtype, device=qkv.device)
    BLOCK_M, BLOCK_N, num_warps = 128, 64, 8
    if qkv.is_cuda and torch.cuda.get_device_capability(qkv.device)[0] < 8:
        # Before Ampere products go through registers: room is scarce.
        BLOCK_M, BLOCK_N, num_warps = 32, 16, 4
    fused_mha_kernel[(triton.cdiv(S, BLOCK_M) * num_heads * B,)](
        qkv,
        cos,
        sin,
        o,
        num_heads,
        S,
        scale,
        GROUP=num_heads // num_kv_heads,
        CAUSAL=causal,
        D=D,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        HALF=max(triton.next_power_of_2(D // 2), 16),
        BLOCK_D=max(triton.next_power_of_2(D), 16),
        num_warps=num_warps,
        num_stages=2,
    )
    return o
