"""Day 35, tuned: flash attention as a model calls it, in one file.

Beyond the plain solution it has the tricks of the tuned days 32 and 34, in solutions/fast beside it:

- Tensor descriptors where the GPU has them, and taller blocks in the registers that they leave.
- Masks only in blocks where a key is hidden.
- The maximum before the scale: no exponential takes more than a multiply-add and an exp2.
- The order of programs: causal, those of four heads together and the longest ones first.
- Blocks, warps, stages and registers of its own for each of the three kernels, by dtype and D.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable
from triton.tools.tensor_descriptor import TensorDescriptor

LOWEST = tl.constexpr(torch.finfo(torch.float32).min)
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
        # A descriptor counts in 32 bits.
        x = x_ptr.load([pid_b.to(tl.int32), pid_h.to(tl.int32), start, 0]).reshape(BLOCK, BLOCK_D)
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
    x_ptrs = x_ptr + (pid_bh * n_rows + offs_s)[:, None] * D + offs_d[None, :]
    tl.store(x_ptrs, x.to(x_ptr.dtype.element_ty), mask=(offs_s < n_rows)[:, None] & (offs_d < D)[None, :])


@triton.jit
def head_and_block(blocks, HEADS: tl.constexpr):
    """This program's head and its block: block 0 of HEADS heads, block 1 of the same, … (day 18)."""
    pid = tl.program_id(0)
    heads = tl.num_programs(0) // blocks
    first = pid // (HEADS * blocks) * HEADS
    size = tl.minimum(heads - first, HEADS)
    # 64 bits: a head may start 2**31 elements and more behind the first one.
    return (first + pid % (HEADS * blocks) % size).to(tl.int64), pid % (HEADS * blocks) // size


@triton.jit
def key_head(pid_h, GROUP: tl.constexpr):
    """The key head that query head pid_h reads, when GROUP query heads share one."""
    # Neighbours share. They read the same keys and values, which lie in HBM once.
    return pid_h // GROUP


@triton.jit
def keys_seen(offs_m, Sq, Sk, CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """How many keys each row sees, how many in whole blocks all of them do, and how many any row does."""
    visible = tl.full((BLOCK_M,), Sk, tl.int32)
    if CAUSAL:
        visible = tl.minimum(visible, offs_m + 1 + Sk - Sq)
    return visible, tl.maximum(tl.min(visible, axis=0), 0) // BLOCK_N * BLOCK_N, tl.max(visible, axis=0)


@triton.jit
def forward_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    lse2_ptr,
    Hq,
    Sq,
    Sk,
    qk_scale,
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
    GROUP: tl.constexpr,
    CAUSAL: tl.constexpr,
    NEGATIVE: tl.constexpr,
    HEADS: tl.constexpr,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
    DESCRIPTORS: tl.constexpr,
):
    """o, and lse in base 2, of BLOCK_M queries of one head: day 32."""
    tiles_m = tl.cdiv(Sq, BLOCK_M)
    pid_bh, pid_m = head_and_block(tiles_m, HEADS)
    pid_b, pid_h = pid_bh // Hq, pid_bh % Hq
    pid_kh = key_head(pid_h, GROUP)
    if not DESCRIPTORS:
        q_ptr += pid_b * stride_qb + pid_h * stride_qh
        k_ptr += pid_b * stride_kb + pid_kh * stride_kh
        v_ptr += pid_b * stride_vb + pid_kh * stride_vh
    # The last queries see the most keys, and go first.
    start_m = (tiles_m - 1 - pid_m) * BLOCK_M
    offs_m = start_m + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    visible, edge, end = keys_seen(offs_m, Sq, Sk, CAUSAL, BLOCK_M, BLOCK_N)
    q = load_rows(q_ptr, pid_b, pid_h, start_m, Sq, stride_qm, stride_qd, D, BLOCK_M, BLOCK_D, DESCRIPTORS)
    if NEGATIVE:
        q = -q
    m_i = tl.full((BLOCK_M,), LOWEST, tl.float32)
    l_i = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    for MASKED in tl.static_range(2):
        for start in range(edge if MASKED else 0, end if MASKED else edge, BLOCK_N):
            k = load_rows(
                k_ptr, pid_b, pid_kh, start, Sk, stride_kn, stride_kd, D, BLOCK_N, BLOCK_D, DESCRIPTORS
            )
            qk = tl.dot(q, k.T, input_precision="ieee")
            if MASKED:
                qk = tl.where(start + offs_n[None, :] < visible[:, None], qk, -float("inf"))
            m_new = tl.maximum(m_i, tl.max(qk, axis=1) * qk_scale)
            p = tl.exp2(qk * qk_scale - m_new[:, None])
            alpha = tl.exp2(m_i - m_new)
            l_i = l_i * alpha + tl.sum(p, axis=1)
            v = load_rows(
                v_ptr, pid_b, pid_kh, start, Sk, stride_vn, stride_vd, D, BLOCK_N, BLOCK_D, DESCRIPTORS
            )
            acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None], input_precision="ieee")
            m_i = m_new
    o = acc / tl.where(l_i == 0, 1.0, l_i)[:, None]
    store_rows(o_ptr, o, pid_bh, start_m, Sq, D, BLOCK_M, BLOCK_D)
    # In base 2, since only the backward pass reads it.
    tl.store(lse2_ptr + pid_bh * Sq + offs_m, m_i + tl.log2(l_i), mask=offs_m < Sq)


@triton.jit
def dq_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    do_ptr,
    lse2_ptr,
    delta_ptr,
    o_ptr,
    dq_ptr,
    Hq,
    Sq,
    Sk,
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
    stride_dob,
    stride_doh,
    stride_dom,
    stride_dod,
    GROUP: tl.constexpr,
    CAUSAL: tl.constexpr,
    HEADS: tl.constexpr,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
    DESCRIPTORS: tl.constexpr,
):
    """dq of BLOCK_M queries of one head, and their delta, which dkdv_kernel reads: day 34."""
    tiles_m = tl.cdiv(Sq, BLOCK_M)
    pid_bh, pid_m = head_and_block(tiles_m, HEADS)
    pid_b, pid_h = pid_bh // Hq, pid_bh % Hq
    pid_kh = key_head(pid_h, GROUP)
    if not DESCRIPTORS:
        q_ptr += pid_b * stride_qb + pid_h * stride_qh
        k_ptr += pid_b * stride_kb + pid_kh * stride_kh
        v_ptr += pid_b * stride_vb + pid_kh * stride_vh
        do_ptr += pid_b * stride_dob + pid_h * stride_doh
    start_m = (tiles_m - 1 - pid_m) * BLOCK_M
    offs_m = start_m + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    visible, edge, end = keys_seen(offs_m, Sq, Sk, CAUSAL, BLOCK_M, BLOCK_N)
    q = load_rows(q_ptr, pid_b, pid_h, start_m, Sq, stride_qm, stride_qd, D, BLOCK_M, BLOCK_D, DESCRIPTORS)
    do = load_rows(
        do_ptr, pid_b, pid_h, start_m, Sq, stride_dom, stride_dod, D, BLOCK_M, BLOCK_D, DESCRIPTORS
    )
    # The only read of o. A kernel for delta alone would read do once more.
    o = load_rows(o_ptr + pid_bh * Sq * D, pid_b, pid_h, start_m, Sq, D, 1, D, BLOCK_M, BLOCK_D, False)
    delta = tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)
    tl.store(delta_ptr + pid_bh * Sq + offs_m, delta, mask=offs_m < Sq)
    lse2 = tl.load(lse2_ptr + pid_bh * Sq + offs_m, mask=offs_m < Sq, other=0.0)
    dq = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    for MASKED in tl.static_range(2):
        for start in range(edge if MASKED else 0, end if MASKED else edge, BLOCK_N):
            k = load_rows(
                k_ptr, pid_b, pid_kh, start, Sk, stride_kn, stride_kd, D, BLOCK_N, BLOCK_D, DESCRIPTORS
            )
            v = load_rows(
                v_ptr, pid_b, pid_kh, start, Sk, stride_vn, stride_vd, D, BLOCK_N, BLOCK_D, DESCRIPTORS
            )
            qk = tl.dot(q, k.T, input_precision="ieee")
            p = tl.exp2(qk * (scale * LOG2_E) - lse2[:, None])
            if MASKED:
                p = tl.where(start + offs_n[None, :] < visible[:, None], p, 0.0)
            dp = tl.dot(do, v.T, input_precision="ieee")
            ds = p * (dp - delta[:, None])
            dq = tl.dot(ds.to(k.dtype), k, dq, input_precision="ieee")
    store_rows(dq_ptr, dq * scale, pid_bh, start_m, Sq, D, BLOCK_M, BLOCK_D)


@triton.jit
def dkdv_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    do_ptr,
    lse2_ptr,
    delta_ptr,
    dk_ptr,
    dv_ptr,
    Hk,
    Sq,
    Sk,
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
    stride_dob,
    stride_doh,
    stride_dom,
    stride_dod,
    GROUP: tl.constexpr,
    CAUSAL: tl.constexpr,
    HEADS: tl.constexpr,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
    DESCRIPTORS: tl.constexpr,
):
    """dk and dv of BLOCK_N keys of one key head, from all query heads that read it: day 34, GROUP times."""
    pid_bh, pid_n = head_and_block(tl.cdiv(Sk, BLOCK_N), HEADS)
    pid_b, pid_kh = pid_bh // Hk, pid_bh % Hk
    if not DESCRIPTORS:
        k_ptr += pid_b * stride_kb + pid_kh * stride_kh
        v_ptr += pid_b * stride_vb + pid_kh * stride_vh
    start_n = pid_n * BLOCK_N
    offs_n = start_n + tl.arange(0, BLOCK_N)
    first, whole = 0, 0
    if CAUSAL:
        first = tl.maximum(start_n + Sq - Sk, 0)
        whole = first + tl.cdiv(tl.maximum(start_n + BLOCK_N - 1 + Sq - Sk, 0) - first, BLOCK_M) * BLOCK_M
    k = load_rows(k_ptr, pid_b, pid_kh, start_n, Sk, stride_kn, stride_kd, D, BLOCK_N, BLOCK_D, DESCRIPTORS)
    v = load_rows(v_ptr, pid_b, pid_kh, start_n, Sk, stride_vn, stride_vd, D, BLOCK_N, BLOCK_D, DESCRIPTORS)
    dk = tl.zeros((BLOCK_N, BLOCK_D), tl.float32)
    dv = tl.zeros((BLOCK_N, BLOCK_D), tl.float32)
    for member in range(GROUP):
        # The sum over the group stays in this program's registers: no atomics, nothing per query head in HBM.
        pid_h = pid_kh * GROUP + member
        q_head, do_head = q_ptr, do_ptr
        if not DESCRIPTORS:
            q_head += pid_b * stride_qb + pid_h * stride_qh
            do_head += pid_b * stride_dob + pid_h * stride_doh
        rows = (pid_b * Hk * GROUP + pid_h) * Sq
        for WHOLE in tl.static_range(2):
            for start in range(whole if WHOLE else first, Sq if WHOLE else tl.minimum(whole, Sq), BLOCK_M):
                q = load_rows(
                    q_head, pid_b, pid_h, start, Sq, stride_qm, stride_qd, D, BLOCK_M, BLOCK_D, DESCRIPTORS
                )
                do = load_rows(
                    do_head, pid_b, pid_h, start, Sq, stride_dom, stride_dod, D, BLOCK_M, BLOCK_D, DESCRIPTORS
                )
                offs_m = start + tl.arange(0, BLOCK_M)
                lse2 = tl.load(lse2_ptr + rows + offs_m, mask=offs_m < Sq, other=0.0)
                delta = tl.load(delta_ptr + rows + offs_m, mask=offs_m < Sq, other=0.0)
                qk_t = tl.dot(k, q.T, input_precision="ieee")
                p_t = tl.exp2(qk_t * (scale * LOG2_E) - lse2[None, :])
                if not WHOLE:
                    p_t = tl.where(offs_n[:, None] <= offs_m[None, :] + Sk - Sq, p_t, 0.0)
                dv = tl.dot(p_t.to(do.dtype), do, dv, input_precision="ieee")
                dp_t = tl.dot(v, do.T, input_precision="ieee")
                ds_t = p_t * (dp_t - delta[None, :])
                dk = tl.dot(ds_t.to(q.dtype), q, dk, input_precision="ieee")
    store_rows(dk_ptr, dk * scale, pid_bh, start_n, Sk, D, BLOCK_N, BLOCK_D)
    store_rows(dv_ptr, dv, pid_bh, start_n, Sk, D, BLOCK_N, BLOCK_D)


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


KERNELS = forward_kernel, dq_kernel, dkdv_kernel


def tile_for(kernel: Any, q: torch.Tensor, descriptors: bool) -> tuple[int, int, int, int, int | None]:
    """BLOCK_M, BLOCK_N, num_warps, num_stages and the most registers a thread may have, of one of KERNELS."""
    narrow = q.shape[-1] <= 64
    if not q.is_cuda:
        # No GPU: any tiles will do.
        tiles = (128, 64, 4, 1, None), (128, 64, 4, 1, None), (64, 128, 4, 1, None)
    elif descriptors and narrow:
        tiles = (128, 128, 8, 3, 128), (128, 64, 8, 3, None), (64, 64, 4, 2, None)
    elif descriptors:
        tiles = (128, 64, 8, 2, 128), (128, 64, 8, 3, None), (64, 64, 4, 2, None)
    elif q.element_size() == 2 and torch.cuda.get_device_capability(q.device)[0] >= 8:
        if narrow:
            tiles = (128, 64, 4, 3, None), (64, 64, 4, 2, None), (64, 64, 4, 2, None)
        else:
            tiles = (128, 64, 8, 2, None), (64, 32, 4, 2, None), (32, 64, 4, 2, None)
    # IEEE fp32, and any dtype on older chips, goes product by product through registers: little room is left.
    elif narrow:
        tiles = (64, 32, 8, 2, None), (32, 32, 4, 1, None), (32, 32, 4, 1, None)
    else:
        tiles = (64, 16, 8, 2, None), (32, 16, 8, 1, None), (16, 32, 8, 1, None)
    return tiles[KERNELS.index(kernel)]


def launch(
    kernel: Any,
    sources: Sequence[Any],
    others: Sequence[torch.Tensor],
    scale: float,
    causal: bool,
    **more: Any,
) -> None:
    """Launch one of KERNELS on q, k, v and, if it takes it, do, and on contiguous tensors behind them."""
    q, k = sources[:2]
    (B, Hq, Sq, D), (Hk, Sk) = q.shape, k.shape[1:3]
    descriptors = suits_descriptors(*sources)
    strides = [stride for x in sources for stride in x.stride()]
    BLOCK_M, BLOCK_N, num_warps, num_stages, maxnreg = tile_for(kernel, q, descriptors)
    BLOCK_D = max(triton.next_power_of_2(D), 16)
    if descriptors:
        rows = (BLOCK_M, BLOCK_N, BLOCK_N, BLOCK_M)
        sources = [
            TensorDescriptor.from_tensor(x, [1, 1, n, BLOCK_D]) for x, n in zip(sources, rows, strict=False)
        ]
    heads, blocks = Hq, triton.cdiv(Sq, BLOCK_M)
    if kernel is dkdv_kernel:
        heads, blocks = Hk, triton.cdiv(Sk, BLOCK_N)
    kernel[(blocks * B * heads,)](
        *sources,
        *others,
        heads,
        Sq,
        Sk,
        scale,
        *strides,
        GROUP=Hq // Hk,
        CAUSAL=causal,
        # Programs of one head share what passes by in L2. Causal ones differ in length: there, long programs
        # of several heads go first.
        HEADS=4 if causal else 1,
        D=D,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_D=BLOCK_D,
        DESCRIPTORS=descriptors,
        num_warps=num_warps,
        num_stages=num_stages,
        maxnreg=maxnreg,
        **more,
    )


def flash_forward(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return o, and lse in base 2, fp32 [B, Hq, Sq]; arguments as those of flash_attention."""
    o, lse2 = empty_like(q), q.new_empty(q.shape[:3], dtype=torch.float32)
    # Not 0, or masked scores would be -inf * 0.
    qk_scale = max(abs(scale) * math.log2(math.e), 1e-30)
    launch(forward_kernel, (q, k, v), (o, lse2), qk_scale, causal, NEGATIVE=scale < 0)
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
    delta = torch.empty_like(lse2)
    launch(dq_kernel, (q, k, v, do), (lse2, delta, o, dq), scale, causal)
    launch(dkdv_kernel, (q, k, v, do), (lse2, delta, dk, dv), scale, causal)
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
        # An operator costs the CPU 0.1 ms a call, so only the compiler gets one.
        forward = forward_op if torch.compiler.is_compiling() else flash_forward
        o, lse2 = forward(q, k, v, scale, causal)
        # They grow with S, not with S²: three inputs, the output, and 4 bytes a query.
        ctx.save_for_backward(q, k, v, o, lse2)
        ctx.scale, ctx.causal = scale, causal
        return o

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, do: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Return a gradient for each argument of forward, None for scale and causal."""
        backward = backward_op if torch.compiler.is_compiling() else flash_backward
        dq, dk, dv = backward(*ctx.saved_tensors, do, ctx.scale, ctx.causal)
        return dq, dk, dv, None, None


def flash_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool
) -> torch.Tensor:
    """Return softmax(q kᵀ · scale) v as [B, Hq, Sq, D], contiguous, in q's dtype; differentiable in q, k, v.

    q[B, Hq, Sq, D], k, v[B, Hk, Sk, D]: any strides, D ≤ 128. Query head h reads key head h // (Hq // Hk).
    Causal: query i sees keys ≤ i + Sk − Sq; one that sees none has output 0 and gradient 0.
    """
    device = q.device.type
    if torch.is_autocast_enabled(device):
        # As torch's own attention does. Autograd sees the casts: a gradient comes back in its input's dtype.
        q, k, v = (x.to(torch.get_autocast_dtype(device)) for x in (q, k, v))
    return FlashAttention.apply(q, k, v, scale, causal)
