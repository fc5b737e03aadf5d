"""Day 35: flash attention as a model calls it: any layout, fewer key than query heads, differentiable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from tiles import attend, dscores, keys_seen, load_rows, store_rows
from torch.autograd.function import once_differentiable

LOWEST = tl.constexpr(torch.finfo(torch.float32).min)


@triton.jit
def key_head(pid_h, GROUP: tl.constexpr):
    """The key head that query head pid_h reads, when GROUP query heads share one."""
    # TODO 1: which one is it?


@triton.jit
def forward_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, lse2_ptr, Sq, Sk, scale,
    stride_qb, stride_qh, stride_qm, stride_qd, stride_kb, stride_kh, stride_kn, stride_kd,
    stride_vb, stride_vh, stride_vn, stride_vd,
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """o, and lse in base 2, of BLOCK_M queries of one head: day 32."""
    # 64 bits: a head may start 2**31 elements and more behind the first one.
    pid_b, pid_h = tl.program_id(2).to(tl.int64), tl.program_id(1).to(tl.int64)
    pid_bh = pid_b * tl.num_programs(1) + pid_h
    q_ptr += pid_b * stride_qb + pid_h * stride_qh
    k_ptr += pid_b * stride_kb + key_head(pid_h, GROUP) * stride_kh
    v_ptr += pid_b * stride_vb + key_head(pid_h, GROUP) * stride_vh
    start_m = tl.program_id(0) * BLOCK_M
    offs_m = start_m + tl.arange(0, BLOCK_M)
    visible = keys_seen(offs_m, Sq, Sk, CAUSAL)
    q = load_rows(q_ptr, start_m, Sq, stride_qm, stride_qd, D, BLOCK_M, BLOCK_D)
    m_i = tl.full((BLOCK_M,), LOWEST, tl.float32)
    l_i = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    for start_n in range(0, tl.max(visible, axis=0), BLOCK_N):
        k = load_rows(k_ptr, start_n, Sk, stride_kn, stride_kd, D, BLOCK_N, BLOCK_D)
        v = load_rows(v_ptr, start_n, Sk, stride_vn, stride_vd, D, BLOCK_N, BLOCK_D)
        seen = start_n + tl.arange(0, BLOCK_N)[None, :] < visible[:, None]
        m_i, l_i, acc = attend(q, k, v, seen, scale, m_i, l_i, acc)
    o = acc / tl.where(l_i == 0, 1.0, l_i)[:, None]
    store_rows(o_ptr + pid_bh * Sq * D, o, start_m, Sq, D, BLOCK_M, BLOCK_D)
    # In base 2, since only the backward pass reads it.
    tl.store(lse2_ptr + pid_bh * Sq + offs_m, m_i + tl.log2(l_i), mask=offs_m < Sq)


@triton.jit
def dq_kernel(
    q_ptr, k_ptr, v_ptr, do_ptr, lse2_ptr, delta_ptr, o_ptr, dq_ptr, Sq, Sk, scale,
    stride_qb, stride_qh, stride_qm, stride_qd, stride_kb, stride_kh, stride_kn, stride_kd,
    stride_vb, stride_vh, stride_vn, stride_vd, stride_dob, stride_doh, stride_dom, stride_dod,
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """dq of BLOCK_M queries of one head, and their delta, which dkdv_kernel reads: day 34."""
    pid_b, pid_h = tl.program_id(2).to(tl.int64), tl.program_id(1).to(tl.int64)
    pid_bh = pid_b * tl.num_programs(1) + pid_h
    q_ptr += pid_b * stride_qb + pid_h * stride_qh
    k_ptr += pid_b * stride_kb + key_head(pid_h, GROUP) * stride_kh
    v_ptr += pid_b * stride_vb + key_head(pid_h, GROUP) * stride_vh
    do_ptr += pid_b * stride_dob + pid_h * stride_doh
    start_m = tl.program_id(0) * BLOCK_M
    offs_m = start_m + tl.arange(0, BLOCK_M)
    visible = keys_seen(offs_m, Sq, Sk, CAUSAL)
    q = load_rows(q_ptr, start_m, Sq, stride_qm, stride_qd, D, BLOCK_M, BLOCK_D)
    do = load_rows(do_ptr, start_m, Sq, stride_dom, stride_dod, D, BLOCK_M, BLOCK_D)
    # The only read of o. A kernel for delta alone would read do once more.
    o = load_rows(o_ptr + pid_bh * Sq * D, start_m, Sq, D, 1, D, BLOCK_M, BLOCK_D)
    delta = tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)
    tl.store(delta_ptr + pid_bh * Sq + offs_m, delta, mask=offs_m < Sq)
    lse2 = tl.load(lse2_ptr + pid_bh * Sq + offs_m, mask=offs_m < Sq, other=0.0)
    dq = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    for start_n in range(0, tl.max(visible, axis=0), BLOCK_N):
        k = load_rows(k_ptr, start_n, Sk, stride_kn, stride_kd, D, BLOCK_N, BLOCK_D)
        v = load_rows(v_ptr, start_n, Sk, stride_vn, stride_vd, D, BLOCK_N, BLOCK_D)
        seen = start_n + tl.arange(0, BLOCK_N)[None, :] < visible[:, None]
        _, ds = dscores(q, do, k, v, lse2[:, None], delta[:, None], seen, scale)
        dq = tl.dot(ds.to(k.dtype), k, dq, input_precision="ieee")
    store_rows(dq_ptr + pid_bh * Sq * D, dq * scale, start_m, Sq, D, BLOCK_M, BLOCK_D)


@triton.jit
def dkdv_kernel(
    q_ptr, k_ptr, v_ptr, do_ptr, lse2_ptr, delta_ptr, dk_ptr, dv_ptr, Sq, Sk, scale,
    stride_qb, stride_qh, stride_qm, stride_qd, stride_kb, stride_kh, stride_kn, stride_kd,
    stride_vb, stride_vh, stride_vn, stride_vd, stride_dob, stride_doh, stride_dom, stride_dod,
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """dk and dv of BLOCK_N keys of one key head, from all query heads that read it: day 34, GROUP times."""
    # TODO 2: find this program's keys and read them, once, with their values. They belong to a key head.
    # TODO 3: day 34's loop over queries, for every query head that reads this key head.
    # TODO 4: write dk and dv, once.


def launch(
    kernel: Any,
    sources: Sequence[torch.Tensor],
    others: Sequence[torch.Tensor],
    scale: float,
    causal: bool,
) -> None:
    """Launch a kernel on q, k, v and, if it takes it, do, and on contiguous tensors behind them."""
    q, k = sources[:2]
    (B, Hq, Sq, D), (Hk, Sk) = q.shape, k.shape[1:3]
    # What stays is tall, what passes by is narrow.
    tall, narrow, num_warps = (128, 64, 8) if kernel is forward_kernel or not q.is_cuda else (64, 32, 4)
    if q.is_cuda and (q.dtype == torch.float32 or torch.cuda.get_device_capability(q.device)[0] < 8):
        # IEEE fp32, and any dtype before Ampere, goes product by product through registers: room is scarce.
        tall, narrow, num_warps = 32, 16, 4
    grid, BLOCK_M, BLOCK_N = (triton.cdiv(Sq, tall), Hq, B), tall, narrow
    # TODO 5: dkdv_kernel owns tall blocks of keys, of key heads: another grid, and the sides change places.
    kernel[grid](
        *sources, *others, Sq, Sk, scale, *(stride for x in sources for stride in x.stride()),
        GROUP=Hq // Hk, CAUSAL=causal, D=D, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N,
        BLOCK_D=max(triton.next_power_of_2(D), 16), num_warps=num_warps, num_stages=2,
    )  # fmt: skip


def flash_forward(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return o, and lse in base 2, fp32 [B, Hq, Sq]; arguments as those of flash_attention."""
    o, lse2 = empty_like(q), q.new_empty(q.shape[:3], dtype=torch.float32)
    launch(forward_kernel, (q, k, v), (o, lse2), scale, causal)
    return o, lse2


def flash_backward(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    lse2: torch.Tensor,
    do: torch.Tensor,
    scale: float,
    causal: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return dq, dk and dv, contiguous, for o and lse2 of flash_forward and for do, of any strides."""
    dq, dk, dv = empty_like(q), empty_like(k), empty_like(v)
    # TODO 6: make room for delta, fp32, and launch dq_kernel and dkdv_kernel; one of them writes delta.
    return dq, dk, dv


def empty_like(x: torch.Tensor) -> torch.Tensor:
    """A contiguous tensor of x's shape, whatever x's strides are."""
    return torch.empty_like(x, memory_format=torch.contiguous_format)


# For torch.compile: operators that it need not look into, and what they return, without values.
forward_op = torch.library.custom_op("track::flash_forward", flash_forward, mutates_args=())
backward_op = torch.library.custom_op("track::flash_backward", flash_backward, mutates_args=())
forward_op.register_fake(lambda q, *_: (empty_like(q), q.new_empty(q.shape[:3], dtype=torch.float32)))
backward_op.register_fake(lambda q, k, v, *_: (empty_like(q), empty_like(k), empty_like(v)))


class FlashAttention(torch.autograd.Function):
    """Tells autograd which kernels compute o, and which its gradients."""

    @staticmethod
    def forward(
        ctx: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool
    ) -> torch.Tensor:
        """Return o, and keep in ctx what backward needs."""
        # TODO 7: run the forward pass: forward_op if torch.compiler.is_compiling(), else flash_forward.
        # TODO 8: keep what flash_backward asks for: tensors by ctx.save_for_backward, numbers as attributes.

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, do: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Return a gradient for each argument of forward, None for scale and causal."""
        # TODO 9: the same for the backward pass; do may have any strides.


def flash_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool
) -> torch.Tensor:
    """Return softmax(q kᵀ · scale) v as [B, Hq, Sq, D], contiguous, in q's dtype; differentiable in q, k, v.

    q[B, Hq, Sq, D], k, v[B, Hk, Sk, D]: any strides, D ≤ 128. Query head h reads key head h // (Hq // Hk).
    Causal: query i sees keys ≤ i + Sk − Sq; one that sees none has output 0 and gradient 0.
    """
    # TODO 10: under torch.autocast, cast as torch's own attention does, where autograd sees it.
    # TODO 11: return what the class gives.
