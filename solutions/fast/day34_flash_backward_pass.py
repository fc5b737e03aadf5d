"""Day 34, tuned: flash attention's backward pass.

What it does beyond the plain solution, and what that buys:

- Tensor descriptors (day 21) where the GPU has them. They take no registers, so that taller blocks fit: 128
  rows of dq stay, and k and v come from L2 half as often as for 64. 64 queries pass a turn, not 32.
- Masks only in blocks that the diagonal crosses, or that hold the end of the keys; queries past the end need
  none. All other blocks are spared a comparison and a choice a score.
- Base 2: c = scale · log2(e) is a number of the launch, lse · log2(e) one of the row, which delta_kernel
  writes. p is one multiply-add and one exp2, where tl.exp takes a multiplication more.
- The order of programs: causal, those of four heads together and the longest ones first; otherwise those of
  one head, which find in L2 what passes by.
- Blocks, warps and stages of its own for each loop, dtype and D.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

LOG2_E = tl.constexpr(math.log2(math.e))


@triton.jit
def load_rows(
    x_ptr,
    pid_b,
    pid_h,
    start,
    n_rows,
    stride_s,
    stride_d,
    D: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCK_D: tl.constexpr,
    DESCRIPTORS: tl.constexpr,
):
    """Rows start to start + BLOCK of one head as [BLOCK, BLOCK_D]; 0 where there is no row or no column."""
    if DESCRIPTORS:
        x = x_ptr.load([pid_b, pid_h, start, 0]).reshape(BLOCK, BLOCK_D)
    else:
        offs_s = tl.arange(0, BLOCK)
        offs_d = tl.arange(0, BLOCK_D)
        # 64 bits for the block's start; inside of a block the offsets are small, and always the same.
        x_ptrs = x_ptr + tl.cast(start, tl.int64) * stride_s
        x_ptrs += offs_s[:, None] * stride_s + offs_d[None, :] * stride_d
        x = tl.load(x_ptrs, mask=(offs_s < n_rows - start)[:, None] & (offs_d < D)[None, :], other=0.0)
    return x


@triton.jit
def store_rows(x_ptr, x, pid_bh, start, n_rows, D: tl.constexpr, BLOCK: tl.constexpr, BLOCK_D: tl.constexpr):
    """Write rows start to start + BLOCK of one head of a contiguous tensor, in its dtype."""
    offs_s = start + tl.arange(0, BLOCK)
    offs_d = tl.arange(0, BLOCK_D)
    x_ptrs = x_ptr + (pid_bh.to(tl.int64) * n_rows + offs_s)[:, None] * D + offs_d[None, :]
    tl.store(x_ptrs, x.to(x_ptr.dtype.element_ty), mask=(offs_s < n_rows)[:, None] & (offs_d < D)[None, :])


@triton.jit
def head_and_block(blocks, HEADS: tl.constexpr):
    """This program's head and its block: block 0 of HEADS heads, block 1 of the same, … (day 18)."""
    pid = tl.program_id(0)
    heads = tl.num_programs(0) // blocks
    first = pid // (HEADS * blocks) * HEADS
    size = tl.minimum(heads - first, HEADS)
    return first + pid % (HEADS * blocks) % size, pid % (HEADS * blocks) // size


@triton.jit
def delta_kernel(
    o_ptr,
    do_ptr,
    lse_ptr,
    delta_ptr,
    lse2_ptr,
    H,
    Sq,
    stride_ob,
    stride_oh,
    stride_om,
    stride_dob,
    stride_doh,
    stride_dom,
    stride_dod,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """delta = Σ o ∘ do, and lse in base 2, for BLOCK_M queries of one head."""
    pid_bh, pid_m = head_and_block(tl.cdiv(Sq, BLOCK_M), 1)
    # 64 bits: a head may start 2**31 elements and more behind the first one.
    pid_b, pid_h = (pid_bh // H).to(tl.int64), (pid_bh % H).to(tl.int64)
    o_ptr += pid_b * stride_ob + pid_h * stride_oh
    do_ptr += pid_b * stride_dob + pid_h * stride_doh
    start_m = pid_m * BLOCK_M
    # 2 * BLOCK_M * D elements are read: the only time that o is needed.
    o = load_rows(o_ptr, pid_b, pid_h, start_m, Sq, stride_om, 1, D, BLOCK_M, BLOCK_D, False)
    do = load_rows(do_ptr, pid_b, pid_h, start_m, Sq, stride_dom, stride_dod, D, BLOCK_M, BLOCK_D, False)
    delta = tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)
    offs_m = start_m + tl.arange(0, BLOCK_M)
    rows = pid_bh.to(tl.int64) * Sq + offs_m
    tl.store(delta_ptr + rows, delta, mask=offs_m < Sq)
    # Both loops read lse once a tile: converted here, it is multiplied once a row.
    lse = tl.load(lse_ptr + rows, mask=offs_m < Sq, other=0.0)
    tl.store(lse2_ptr + rows, lse * LOG2_E, mask=offs_m < Sq)


@triton.jit
def dkdv_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    do_ptr,
    delta_ptr,
    lse2_ptr,
    dk_ptr,
    dv_ptr,
    H,
    Sq,
    Sk,
    scale,
    stride_qb,
    stride_qh,
    stride_qm,
    stride_kb,
    stride_kh,
    stride_kn,
    stride_vb,
    stride_vh,
    stride_vn,
    stride_dob,
    stride_doh,
    stride_dom,
    stride_dod,
    CAUSAL: tl.constexpr,
    HEADS: tl.constexpr,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
    DESCRIPTORS: tl.constexpr,
):
    """dk and dv of BLOCK_N keys of one head: the queries that see any of them pass by."""
    # Low blocks are seen by the most queries: they go first, so that short programs fill the end.
    pid_bh, pid_n = head_and_block(tl.cdiv(Sk, BLOCK_N), HEADS)
    pid_b, pid_h = pid_bh // H, pid_bh % H
    if not DESCRIPTORS:
        q_ptr += pid_b.to(tl.int64) * stride_qb + pid_h.to(tl.int64) * stride_qh
        k_ptr += pid_b.to(tl.int64) * stride_kb + pid_h.to(tl.int64) * stride_kh
        v_ptr += pid_b.to(tl.int64) * stride_vb + pid_h.to(tl.int64) * stride_vh
        do_ptr += pid_b.to(tl.int64) * stride_dob + pid_h.to(tl.int64) * stride_doh
    delta_ptr += pid_bh.to(tl.int64) * Sq
    lse2_ptr += pid_bh.to(tl.int64) * Sq
    start_n = pid_n * BLOCK_N
    offs_n = start_n + tl.arange(0, BLOCK_N)
    # Key j is seen from query j + Sq - Sk on: before `first` no query sees any key of the block, from `last`
    # on each sees all of them. From `whole` on, whole blocks after `first`, no mask is needed.
    first, whole = 0, 0
    if CAUSAL:
        first = tl.maximum(start_n + Sq - Sk, 0)
        last = tl.maximum(start_n + BLOCK_N - 1 + Sq - Sk, 0)
        whole = first + tl.cdiv(last - first, BLOCK_M) * BLOCK_M
    # The only reads of k and v. Keys past the end are 0, and their rows of dk and dv are not written.
    k = load_rows(k_ptr, pid_b, pid_h, start_n, Sk, stride_kn, 1, D, BLOCK_N, BLOCK_D, DESCRIPTORS)
    v = load_rows(v_ptr, pid_b, pid_h, start_n, Sk, stride_vn, 1, D, BLOCK_N, BLOCK_D, DESCRIPTORS)
    dk = tl.zeros((BLOCK_N, BLOCK_D), tl.float32)
    dv = tl.zeros((BLOCK_N, BLOCK_D), tl.float32)
    for WHOLE in tl.static_range(0 if CAUSAL else 1, 2):
        for start_m in range(whole if WHOLE else first, Sq if WHOLE else tl.minimum(whole, Sq), BLOCK_M):
            # 2 * BLOCK_M * D elements from L2 a turn, for 8 * BLOCK_M * BLOCK_N * D operations.
            q = load_rows(q_ptr, pid_b, pid_h, start_m, Sq, stride_qm, 1, D, BLOCK_M, BLOCK_D, DESCRIPTORS)
            do = load_rows(
                do_ptr, pid_b, pid_h, start_m, Sq, stride_dom, stride_dod, D, BLOCK_M, BLOCK_D, DESCRIPTORS
            )
            offs_m = start_m + tl.arange(0, BLOCK_M)
            lse2 = tl.load(lse2_ptr + offs_m, mask=offs_m < Sq, other=0.0)
            # Keys down, queries across: pᵀ and dsᵀ leave the registers for their products as they are.
            qk_t = tl.dot(k, q.T, input_precision="ieee")
            p_t = tl.exp2(qk_t * (scale * LOG2_E) - lse2[None, :])
            if not WHOLE:
                # Chosen, not multiplied by 0: a hidden score may be far above lse, and its exp2 Inf.
                p_t = tl.where(offs_n[:, None] <= offs_m[None, :] + Sk - Sq, p_t, 0.0)
            dv = tl.dot(p_t.to(do.dtype), do, dv, input_precision="ieee")
            dp_t = tl.dot(v, do.T, input_precision="ieee")
            delta = tl.load(delta_ptr + offs_m, mask=offs_m < Sq, other=0.0)
            ds_t = p_t * (dp_t - delta[None, :])
            dk = tl.dot(ds_t.to(q.dtype), q, dk, input_precision="ieee")
    # The scale of s = q kᵀ · scale, once and not in the loop.
    store_rows(dk_ptr, dk * scale, pid_bh, start_n, Sk, D, BLOCK_N, BLOCK_D)
    store_rows(dv_ptr, dv, pid_bh, start_n, Sk, D, BLOCK_N, BLOCK_D)


@triton.jit
def dq_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    do_ptr,
    delta_ptr,
    lse2_ptr,
    dq_ptr,
    H,
    Sq,
    Sk,
    scale,
    stride_qb,
    stride_qh,
    stride_qm,
    stride_kb,
    stride_kh,
    stride_kn,
    stride_vb,
    stride_vh,
    stride_vn,
    stride_dob,
    stride_doh,
    stride_dom,
    stride_dod,
    CAUSAL: tl.constexpr,
    HEADS: tl.constexpr,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
    DESCRIPTORS: tl.constexpr,
):
    """dq of BLOCK_M queries of one head: the keys that they see pass by, as in the forward pass."""
    tiles_m = tl.cdiv(Sq, BLOCK_M)
    pid_bh, pid_m = head_and_block(tiles_m, HEADS)
    pid_b, pid_h = pid_bh // H, pid_bh % H
    if not DESCRIPTORS:
        q_ptr += pid_b.to(tl.int64) * stride_qb + pid_h.to(tl.int64) * stride_qh
        k_ptr += pid_b.to(tl.int64) * stride_kb + pid_h.to(tl.int64) * stride_kh
        v_ptr += pid_b.to(tl.int64) * stride_vb + pid_h.to(tl.int64) * stride_vh
        do_ptr += pid_b.to(tl.int64) * stride_dob + pid_h.to(tl.int64) * stride_doh
    # The last queries see the most keys, and go first.
    start_m = (tiles_m - 1 - pid_m) * BLOCK_M
    offs_m = start_m + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    # As on day 32: row i sees the first visible[i] keys.
    visible = tl.full((BLOCK_M,), Sk, tl.int32)
    if CAUSAL:
        visible = tl.minimum(visible, offs_m + 1 + Sk - Sq)
    edge = tl.maximum(tl.min(visible, axis=0), 0) // BLOCK_N * BLOCK_N
    end = tl.max(visible, axis=0)
    q = load_rows(q_ptr, pid_b, pid_h, start_m, Sq, stride_qm, 1, D, BLOCK_M, BLOCK_D, DESCRIPTORS)
    do = load_rows(
        do_ptr, pid_b, pid_h, start_m, Sq, stride_dom, stride_dod, D, BLOCK_M, BLOCK_D, DESCRIPTORS
    )
    rows = pid_bh.to(tl.int64) * Sq + offs_m
    lse2 = tl.load(lse2_ptr + rows, mask=offs_m < Sq, other=0.0)
    delta = tl.load(delta_ptr + rows, mask=offs_m < Sq, other=0.0)
    dq = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    for MASKED in tl.static_range(2):
        for start_n in range(edge if MASKED else 0, end if MASKED else edge, BLOCK_N):
            # 2 * BLOCK_N * D elements from L2 a turn, for 6 * BLOCK_M * BLOCK_N * D operations.
            k = load_rows(k_ptr, pid_b, pid_h, start_n, Sk, stride_kn, 1, D, BLOCK_N, BLOCK_D, DESCRIPTORS)
            v = load_rows(v_ptr, pid_b, pid_h, start_n, Sk, stride_vn, 1, D, BLOCK_N, BLOCK_D, DESCRIPTORS)
            qk = tl.dot(q, k.T, input_precision="ieee")
            p = tl.exp2(qk * (scale * LOG2_E) - lse2[:, None])
            if MASKED:
                p = tl.where(start_n + offs_n[None, :] < visible[:, None], p, 0.0)
            dp = tl.dot(do, v.T, input_precision="ieee")
            ds = p * (dp - delta[:, None])
            dq = tl.dot(ds.to(k.dtype), k, dq, input_precision="ieee")
    store_rows(dq_ptr, dq * scale, pid_bh, start_m, Sq, D, BLOCK_M, BLOCK_D)


def suits_descriptors(*tensors: torch.Tensor) -> bool:
    """Whether Hopper's copy engine can read them all: 16-bit, and every row on a boundary of 16 bytes."""
    if tensors[0].is_cuda and torch.cuda.get_device_capability(tensors[0].device)[0] not in (9, 10):
        return False
    return all(
        x.element_size() == 2
        and x.numel() > 0
        and x.data_ptr() % 16 == 0
        and x.stride(-1) == 1
        and all(stride > 0 and stride % 8 == 0 for stride in x.stride()[:-1])
        for x in tensors
    )


# BLOCK_M, BLOCK_N, num_warps, num_stages and the most registers a thread may have.
Tile = tuple[int, int, int, int, int | None]


def tile_for(q: torch.Tensor, descriptors: bool) -> tuple[Tile, Tile]:
    """How to launch dkdv_kernel, and how dq_kernel: what stays is tall, what passes by is narrow."""
    d = q.shape[-1]
    if not q.is_cuda:
        return (64, 128, 4, 1, None), (128, 64, 4, 1, None)  # no GPU: any tile will do
    if descriptors:
        # Two programs of 4 warps on an SM: one multiplies while the other exponentiates.
        return (64, 64, 4, 2, None), (128, 64, 8, 3, None)
    if q.element_size() == 2 and torch.cuda.get_device_capability(q.device)[0] >= 8:
        if d <= 64:
            return (64, 64, 4, 2, None), (64, 64, 4, 2, None)
        return (32, 64, 4, 2, None), (64, 32, 4, 2, None)
    # IEEE fp32, and any dtype on older chips, goes product by product through registers: little room is left.
    if d <= 64:
        return (32, 32, 4, 1, None), (32, 32, 4, 1, None)
    return (16, 32, 8, 1, None), (32, 16, 8, 1, None)


def flash_backward(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    lse: torch.Tensor,
    do: torch.Tensor,
    scale: float,
    causal: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the gradients of q[B, H, Sq, D] and of k, v[B, H, Sk, D]: contiguous, of their dtype.

    o, do[B, H, Sq, D]; all with any strides and D contiguous, only do's D need not be. lse: fp32 [B, H, Sq],
    natural, contiguous; -inf where a query sees no key, and has no gradient. Causal: query i sees keys
    ≤ i + Sk − Sq.
    """
    B, H, Sq, D = q.shape
    Sk = k.shape[2]
    dq = torch.empty(B, H, Sq, D, dtype=q.dtype, device=q.device)
    dk = torch.empty(B, H, Sk, D, dtype=q.dtype, device=q.device)
    dv = torch.empty(B, H, Sk, D, dtype=q.dtype, device=q.device)
    delta = torch.empty(B, H, Sq, dtype=torch.float32, device=q.device)
    lse2 = torch.empty(B, H, Sq, dtype=torch.float32, device=q.device)
    BLOCK_D = max(triton.next_power_of_2(D), 16)
    BLOCK_M = 64 if q.is_cuda else 128
    delta_kernel[(triton.cdiv(Sq, BLOCK_M) * B * H,)](
        o,
        do,
        lse,
        delta,
        lse2,
        H,
        Sq,
        *o.stride()[:3],
        *do.stride(),
        D=D,
        BLOCK_M=BLOCK_M,
        BLOCK_D=BLOCK_D,
    )
    descriptors = suits_descriptors(q, k, v, do)
    strides = (*q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *do.stride())
    dkdv_tile, dq_tile = tile_for(q, descriptors)
    for kernel, outputs, tile in ((dkdv_kernel, (dk, dv), dkdv_tile), (dq_kernel, (dq,), dq_tile)):
        BLOCK_M, BLOCK_N, num_warps, num_stages, maxnreg = tile
        sources = [q, k, v, do]
        if descriptors:
            blocks = (BLOCK_M, BLOCK_N, BLOCK_N, BLOCK_M)
            sources = [
                TensorDescriptor.from_tensor(x, [1, 1, n, BLOCK_D])
                for x, n in zip(sources, blocks, strict=True)
            ]
        tiles = triton.cdiv(Sq, BLOCK_M) if kernel is dq_kernel else triton.cdiv(Sk, BLOCK_N)
        kernel[(tiles * B * H,)](
            *sources,
            delta,
            lse2,
            *outputs,
            H,
            Sq,
            Sk,
            scale,
            *strides,
            CAUSAL=causal,
            # Programs of one head share what passes by in L2. Causal ones differ in length: there, long
            # programs of several heads go first.
            HEADS=4 if causal else 1,
            D=D,
            BLOCK_M=BLOCK_M,
            BLOCK_N=BLOCK_N,
            BLOCK_D=BLOCK_D,
            DESCRIPTORS=descriptors,
            num_warps=num_warps,
            num_stages=num_stages,
            maxnreg=maxnreg,
        )
    return dq, dk, dv
