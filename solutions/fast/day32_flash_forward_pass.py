"""Day 32, tuned: flash attention's forward pass.

What it does beyond the plain solution, and what that buys:

- Tensor descriptors (day 21) where the GPU has them: no register holds a pointer or a mask. So two programs
  share an SM: one multiplies while the other exponentiates. For D = 128 they have 4 warps of 32 rows, for
  D = 64 8 of 16.
- Masks only in blocks where a key is hidden: in 32 of 528, for 4096 causal keys in blocks of 128. All others
  are spared a comparison and a choice a score.
- The maximum before the scale: a multiplication a row instead of one a score, and then one multiply-add and
  one exp2 make p. For a negative scale q changes its sign.
- The order of programs: causal, the longest ones of 16 heads first, so that short ones fill the end, and the
  keys and values of those heads, 34 MB, stay in L2; otherwise those of one head together.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

LOWEST = tl.constexpr(torch.finfo(torch.float32).min)
LN_2 = tl.constexpr(math.log(2))


@triton.jit
def load_rows(
    x_ptr,
    pid_b,
    pid_h,
    start,
    n_rows,
    stride_s,
    D: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCK_D: tl.constexpr,
    DESCRIPTORS: tl.constexpr,
):
    """Rows start to start + BLOCK of one head as [BLOCK, BLOCK_D]; 0 where there is no row or no column."""
    if DESCRIPTORS:
        # Hopper's copy engine (day 21): it knows the bounds, and no register holds a pointer or a mask.
        x = x_ptr.load([pid_b, pid_h, start, 0]).reshape(BLOCK, BLOCK_D)
    else:
        offs_s = tl.arange(0, BLOCK)
        offs_d = tl.arange(0, BLOCK_D)
        # 64 bits for the block's start; inside of a block the offsets are small, and always the same.
        x_ptrs = x_ptr + tl.cast(start, tl.int64) * stride_s + offs_s[:, None] * stride_s + offs_d[None, :]
        x = tl.load(x_ptrs, mask=(offs_s < n_rows - start)[:, None] & (offs_d < D)[None, :], other=0.0)
    return x


@triton.jit
def head_and_block(blocks, HEADS: tl.constexpr):
    """This program's head and its block: block 0 of HEADS heads, block 1 of the same, … (day 18)."""
    pid = tl.program_id(0)
    heads = tl.num_programs(0) // blocks
    first = pid // (HEADS * blocks) * HEADS
    size = tl.minimum(heads - first, HEADS)
    return first + pid % (HEADS * blocks) % size, pid % (HEADS * blocks) // size


@triton.jit
def flash_forward_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    lse_ptr,
    H,
    Sq,
    Sk,
    qk_scale,
    stride_qb,
    stride_qh,
    stride_qm,
    stride_kb,
    stride_kh,
    stride_kn,
    stride_vb,
    stride_vh,
    stride_vn,
    CAUSAL: tl.constexpr,
    NEGATIVE: tl.constexpr,
    HEADS: tl.constexpr,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
    DESCRIPTORS: tl.constexpr,
):
    """o and lse of BLOCK_M queries of one head, from all keys and values that they see."""
    # With DESCRIPTORS, q_ptr, k_ptr and v_ptr are descriptors of the whole tensors.
    tiles_m = tl.cdiv(Sq, BLOCK_M)
    # Programs that run together find the keys and values of their heads in L2.
    pid_bh, pid_m = head_and_block(tiles_m, HEADS)
    if CAUSAL:
        # The last queries see the most keys: they go first, so that short programs fill the end.
        pid_m = tiles_m - 1 - pid_m
    pid_b, pid_h = pid_bh // H, pid_bh % H
    if not DESCRIPTORS:
        # 64 bits: a head may start 2**31 elements and more behind the first one.
        q_ptr += pid_b.to(tl.int64) * stride_qb + pid_h.to(tl.int64) * stride_qh
        k_ptr += pid_b.to(tl.int64) * stride_kb + pid_h.to(tl.int64) * stride_kh
        v_ptr += pid_b.to(tl.int64) * stride_vb + pid_h.to(tl.int64) * stride_vh
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    # Row i sees the first visible[i] keys: one limit for the end of the keys and for the diagonal.
    visible = tl.full((BLOCK_M,), Sk, tl.int32)
    if CAUSAL:
        visible = tl.minimum(visible, offs_m + 1 + Sk - Sq)
    # Blocks before this one are seen whole by every row.
    edge = tl.maximum(tl.min(visible, axis=0), 0) // BLOCK_N * BLOCK_N
    end = tl.max(visible, axis=0)
    # The only read of q. Its sign takes that of the scale, exactly, so that the largest product of a row is
    # its largest score, and scaling needs no pass of its own.
    q = load_rows(q_ptr, pid_b, pid_h, pid_m * BLOCK_M, Sq, stride_qm, D, BLOCK_M, BLOCK_D, DESCRIPTORS)
    if NEGATIVE:
        q = -q
    # The lowest finite number: unlike -inf, it may be subtracted from itself in rows that see no key.
    m_i = tl.full((BLOCK_M,), LOWEST, tl.float32)
    l_i = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    # The same loop twice: without a mask up to the edge, with it from there to the last key that a row sees.
    for MASKED in tl.static_range(2):
        for start_n in range(edge if MASKED else 0, end if MASKED else edge, BLOCK_N):
            # 2 * BLOCK_N * D elements from L2 a turn, for 4 * BLOCK_M * BLOCK_N * D operations.
            k = load_rows(k_ptr, pid_b, pid_h, start_n, Sk, stride_kn, D, BLOCK_N, BLOCK_D, DESCRIPTORS)
            qk = tl.dot(q, k.T, input_precision="ieee")
            if MASKED:
                qk = tl.where(start_n + offs_n[None, :] < visible[:, None], qk, -float("inf"))
            m_new = tl.maximum(m_i, tl.max(qk, axis=1) * qk_scale)
            # One multiply-add and one exp2 a score: log2(e) is in qk_scale.
            p = tl.exp2(qk * qk_scale - m_new[:, None])
            alpha = tl.exp2(m_i - m_new)
            l_i = l_i * alpha + tl.sum(p, axis=1)
            v = load_rows(v_ptr, pid_b, pid_h, start_n, Sk, stride_vn, D, BLOCK_N, BLOCK_D, DESCRIPTORS)
            # Matrix units take 16 bits on both sides: p is rounded to v's dtype, its sum was taken before.
            acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None], input_precision="ieee")
            m_i = m_new
    # The only writes. A row without keys has l_i 0 and acc 0: o is 0, and lse -inf.
    o = acc / tl.where(l_i == 0, 1.0, l_i)[:, None]
    rows = pid_bh.to(tl.int64) * Sq + offs_m
    offs_d = tl.arange(0, BLOCK_D)
    mask = (offs_m < Sq)[:, None] & (offs_d < D)[None, :]
    tl.store(o_ptr + rows[:, None] * D + offs_d[None, :], o.to(o_ptr.dtype.element_ty), mask=mask)
    tl.store(lse_ptr + rows, (m_i + tl.log2(l_i)) * LN_2, mask=offs_m < Sq)


def suits_descriptors(*tensors: torch.Tensor) -> bool:
    """Whether Hopper's copy engine can read them all: 16-bit, and every row on a boundary of 16 bytes."""
    if tensors[0].is_cuda and torch.cuda.get_device_capability(tensors[0].device)[0] not in (9, 10):
        return False
    return all(
        x.element_size() == 2
        and x.numel() > 0
        and x.data_ptr() % 16 == 0
        and all(stride > 0 and stride % 8 == 0 for stride in x.stride()[:-1])
        for x in tensors
    )


def tile_for(q: torch.Tensor, descriptors: bool) -> tuple[int, int, int, int, int | None]:
    """BLOCK_M, BLOCK_N, num_warps, num_stages and the most registers a thread may have."""
    d = q.shape[-1]
    if descriptors:
        # Two programs on an SM: at 128 registers of 8 warps, at 255 of 4.
        return (128, 128, 8, 3, 128) if d <= 64 else (128, 64, 4, 2, None)
    if not q.is_cuda:
        return (128, 64, 4, 1, None)  # no GPU: any tile will do
    if q.element_size() == 2 and torch.cuda.get_device_capability(q.device)[0] >= 8:
        return (128, 64, 4, 3, None) if d <= 64 else (128, 64, 8, 2, None)
    # IEEE fp32, and any dtype on older chips, goes product by product through registers: little room is left.
    return (64, 32, 8, 2, None) if d <= 64 else (64, 16, 8, 2, None)


def flash_forward(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return softmax(q kᵀ · scale) v as [B, H, Sq, D] in q's dtype, and its log-sum-exp as fp32 [B, H, Sq].

    q[B, H, Sq, D], k, v[B, H, Sk, D]: any strides, D contiguous. Causal: query i sees keys ≤ i + Sk − Sq.
    """
    B, H, Sq, D = q.shape
    o = torch.empty(B, H, Sq, D, dtype=q.dtype, device=q.device)
    lse = torch.empty(B, H, Sq, dtype=torch.float32, device=q.device)
    BLOCK_D = max(triton.next_power_of_2(D), 16)
    descriptors = suits_descriptors(q, k, v)
    BLOCK_M, BLOCK_N, num_warps, num_stages, maxnreg = tile_for(q, descriptors)
    sources = [q, k, v]
    if descriptors:
        blocks = (BLOCK_M, BLOCK_N, BLOCK_N)
        sources = [
            TensorDescriptor.from_tensor(x, [1, 1, n, BLOCK_D]) for x, n in zip(sources, blocks, strict=True)
        ]
    flash_forward_kernel[(triton.cdiv(Sq, BLOCK_M) * B * H,)](
        *sources,
        o,
        lse,
        H,
        Sq,
        k.shape[2],
        # Not 0, or masked scores would be -inf * 0.
        max(abs(scale) * math.log2(math.e), 1e-30),
        *q.stride()[:3],
        *k.stride()[:3],
        *v.stride()[:3],
        CAUSAL=causal,
        NEGATIVE=scale < 0,
        HEADS=16 if causal else 1,
        D=D,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_D=BLOCK_D,
        DESCRIPTORS=descriptors,
        num_warps=num_warps,
        num_stages=num_stages,
        maxnreg=maxnreg,
    )
    return o, lse
