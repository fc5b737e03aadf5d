"""Day 30: (q kᵀ · scale) v tile by tile: no score ever leaves the chip."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def tiled_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    H,
    Sq,
    Sk,
    D,
    scale,
    stride_qb,
    stride_qh,
    stride_qm,
    stride_qd,
    stride_kb,
    stride_kh,
    stride_kn,
    stride_kd,
    stride_vb,
    stride_vh,
    stride_vn,
    stride_vd,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """BLOCK_M rows of one head's (q kᵀ · scale) v, BLOCK_N keys at a time; BLOCK_D >= D."""
    tiles_m = tl.cdiv(Sq, BLOCK_M)
    # 64 bits: a head, or a row, may start 2**31 elements or more after the first one.
    pid_bh = (tl.program_id(0) // tiles_m).to(tl.int64)
    pid_b = pid_bh // H
    pid_h = pid_bh % H
    offs_m = (tl.program_id(0) % tiles_m).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N).to(tl.int64)
    offs_d = tl.arange(0, BLOCK_D).to(tl.int64)
    # D = 80 and 96 are padded to 128 with zeros, which add nothing to a score.
    rows, dims = offs_m < Sq, offs_d < D
    q_ptrs = q_ptr + pid_b * stride_qb + pid_h * stride_qh
    q_ptrs += offs_m[:, None] * stride_qm + offs_d[None, :] * stride_qd
    # kᵀ by pointers: its tile is BLOCK_D high and BLOCK_N wide, and nothing is ever transposed in memory.
    k_ptrs = k_ptr + pid_b * stride_kb + pid_h * stride_kh
    k_ptrs += offs_d[:, None] * stride_kd + offs_n[None, :] * stride_kn
    v_ptrs = v_ptr + pid_b * stride_vb + pid_h * stride_vh
    v_ptrs += offs_n[:, None] * stride_vn + offs_d[None, :] * stride_vd
    # Read once, BLOCK_M * D elements, and held until the last key has passed.
    q = tl.load(q_ptrs, mask=rows[:, None] & dims[None, :], other=0.0)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    for left in range(Sk, 0, -BLOCK_N):
        # 2 * BLOCK_N * D elements a turn. In the last, keys past Sk hold zeros on both sides.
        keys = offs_n < left
        k = tl.load(k_ptrs, mask=dims[:, None] & keys[None, :], other=0.0)
        v = tl.load(v_ptrs, mask=keys[:, None] & dims[None, :], other=0.0)
        # BLOCK_M * BLOCK_N scores, for one turn of the loop, in registers. The matrix units take operands of
        # one dtype, so scores are rounded to v's; the sums over d and over the keys are fp32.
        s = tl.dot(q, k, input_precision="ieee") * scale
        acc = tl.dot(s.to(v.dtype), v, acc, input_precision="ieee")
        k_ptrs += BLOCK_N * stride_kn
        v_ptrs += BLOCK_N * stride_vn
    # The only write, BLOCK_M * D elements.
    o_ptrs = o_ptr + (pid_bh * Sq + offs_m)[:, None] * D + offs_d[None, :]
    tl.store(o_ptrs, acc, mask=rows[:, None] & dims[None, :])


def tiled_attention_scores(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
    """Return (q kᵀ · scale) v as a new [B, H, Sq, D], for q[B, H, Sq, D] and k, v[B, H, Sk, D], D <= 128."""
    B, H, Sq, D = q.shape
    o = torch.empty(B, H, Sq, D, dtype=q.dtype, device=q.device)
    BLOCK_D = max(triton.next_power_of_2(D), 16)  # tl.dot takes no side below 16
    # The matrix units take fp16 and bf16, and Triton uses them from Ampere on.
    matrix_units = q.dtype.itemsize == 2 and (
        not q.is_cuda or torch.cuda.get_device_capability(q.device)[0] >= 8
    )
    # More queries than keys: K and V are read once for every tile of queries, and Q only once. 128 x 128 sums
    # are 64 KB of registers, a turn's k and v 32 KB at D = 128; two turns and q are 96 KB of shared memory.
    BLOCK_M, BLOCK_N = (128, 64) if matrix_units else (64, 16)
    tiled_kernel[(triton.cdiv(Sq, BLOCK_M) * B * H,)](
        q,
        k,
        v,
        o,
        H,
        Sq,
        k.shape[2],
        D,
        scale,
        *q.stride(),
        *k.stride(),
        *v.stride(),
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_D=BLOCK_D,
        num_warps=8,
        num_stages=2,
    )
    return o
