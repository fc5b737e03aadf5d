"""Extra: flash attention whose warps load, or attend; softmax runs while the matrix units multiply."""

from __future__ import annotations

import math

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

# For D = 128: 32 KB of q, and two stages of k and of v, 32 KB each: 160 KB of an SM's 227.
BLOCK_M, BLOCK_N = 64, 128  # the queries of a warp group, of which a program has two; the keys of a turn
STAGES = 2
LOG2_E = math.log2(math.e)
DTYPES = {torch.float16: gl.float16, torch.bfloat16: gl.bfloat16}
# A thread of those that attend holds 64 scores, 64 sums of o and 64 weights in 16 bits, for D = 128.
ATTENDS, LOADS = 240, 24  # registers


@gluon.jit
def load_keys(
    q_desc,
    k_desc,
    v_desc,
    q_smem,
    k_smem,
    v_smem,
    q_full,
    k_full,
    k_empty,
    v_full,
    v_empty,
    head,
    row,
    blocks,
):
    """One warp: copy the queries, then the blocks of keys and values, from the last to the first."""
    BLOCK_M: gl.constexpr = q_smem.shape[2]
    BLOCK_N: gl.constexpr = k_smem.shape[2]
    STAGES: gl.constexpr = k_smem.shape[0]
    for half in gl.static_range(2):
        mbarrier.expect(q_full.index(half), q_desc.block_type.nbytes)
        tma.async_copy_global_to_shared(
            q_desc, [head, row + half * BLOCK_M, 0], q_full.index(half), q_smem.index(half)
        )
    for turn in range(blocks):
        stage = turn % STAGES
        parity = (turn // STAGES & 1) ^ 1
        start_n = (blocks - 1 - turn) * BLOCK_N
        # k and v have barriers of their own: a k is empty as soon as its scores are there.
        mbarrier.wait(k_empty.index(stage), parity)
        mbarrier.expect(k_full.index(stage), k_desc.block_type.nbytes)
        tma.async_copy_global_to_shared(k_desc, [head, start_n, 0], k_full.index(stage), k_smem.index(stage))
        mbarrier.wait(v_empty.index(stage), parity)
        mbarrier.expect(v_full.index(stage), v_desc.block_type.nbytes)
        tma.async_copy_global_to_shared(v_desc, [head, start_n, 0], v_full.index(stage), v_smem.index(stage))


@gluon.jit
def start_scores(q, k_smem, SCORES: gl.constexpr):
    """Start q kᵀ of a block of keys, as fp32 [BLOCK_M, BLOCK_N]; shared memory is read down its columns."""
    BLOCK_M: gl.constexpr = q.shape[0]
    BLOCK_N: gl.constexpr = k_smem.shape[1]
    k = k_smem.reshape((BLOCK_N, q.shape[1]))
    zeros = gl.zeros((BLOCK_M, BLOCK_N), gl.float32, SCORES)
    return warpgroup_mma(q, k.permute((1, 0)), zeros, use_acc=False, is_async=True)


@gluon.jit
def attend(
    half, o_desc, q_smem, k_smem, v_smem, q_full, k_full, k_empty, v_full, v_empty, head, row, blocks, S,
    scale, CAUSAL: gl.constexpr,
):  # fmt: skip
    """Four warps: o of BLOCK_M queries. The weights of a block meet v while the next scores are computed."""
    BLOCK_M: gl.constexpr = q_smem.shape[2]
    D: gl.constexpr = q_smem.shape[3]
    BLOCK_N: gl.constexpr = k_smem.shape[2]
    STAGES: gl.constexpr = k_smem.shape[0]
    SCORES: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    OUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 16])
    WEIGHTS: gl.constexpr = gl.DotOperandLayout(0, OUT, 2)
    start_m = row + half * BLOCK_M
    mbarrier.wait(q_full.index(half), 0)
    q = q_smem.index(half).reshape((BLOCK_M, D))
    acc = gl.zeros((BLOCK_M, D), gl.float32, OUT)
    # Turn 0 has the last keys, the only ones that need a mask. The first of these every query sees, because
    # BLOCK_N is 2 * BLOCK_M: from here on m_i is finite.
    mbarrier.wait(k_full.index(0), 0)
    qk = start_scores(q, k_smem.index(0), SCORES)
    qk = warpgroup_mma_wait(0, deps=(qk,))
    mbarrier.arrive(k_empty.index(0), count=1)
    offs_n = (blocks - 1) * BLOCK_N + gl.arange(0, BLOCK_N, layout=gl.SliceLayout(0, SCORES))
    seen = (offs_n < S)[None, :]
    if CAUSAL:
        offs_m = start_m + gl.arange(0, BLOCK_M, layout=gl.SliceLayout(1, SCORES))
        seen = seen & (offs_n[None, :] <= offs_m[:, None])
    qk = gl.where(seen, qk, -float("inf"))
    m_i = gl.max(qk, 1)
    p = gl.exp2(qk * scale - (m_i * scale)[:, None])
    l_i = gl.sum(p, 1)
    weights = gl.convert_layout(p.to(o_desc.dtype), WEIGHTS)
    for turn in range(1, blocks):
        stage, before = turn % STAGES, (turn - 1) % STAGES
        mbarrier.wait(k_full.index(stage), turn // STAGES & 1)
        qk = start_scores(q, k_smem.index(stage), SCORES)
        mbarrier.wait(v_full.index(before), (turn - 1) // STAGES & 1)
        acc = warpgroup_mma(weights, v_smem.index(before).reshape((BLOCK_N, D)), acc, is_async=True)
        # The scores were started first, so they end first. Their softmax needs no matrix unit: meanwhile
        # these multiply by v.
        qk = warpgroup_mma_wait(1, deps=(qk,))
        mbarrier.arrive(k_empty.index(stage), count=1)
        m_new = gl.maximum(m_i, gl.max(qk, 1))
        alpha = gl.exp2((m_i - m_new) * scale)
        # One multiply-add a score scales and subtracts.
        p = gl.exp2(qk * scale - (m_new * scale)[:, None])
        l_i = l_i * alpha + gl.sum(p, 1)
        m_i = m_new
        acc = warpgroup_mma_wait(0, deps=(acc,))
        mbarrier.arrive(v_empty.index(before), count=1)
        acc = acc * gl.convert_layout(alpha, gl.SliceLayout(1, OUT))[:, None]
        weights = gl.convert_layout(p.to(o_desc.dtype), WEIGHTS)
    last = (blocks - 1) % STAGES
    mbarrier.wait(v_full.index(last), (blocks - 1) // STAGES & 1)
    acc = warpgroup_mma(weights, v_smem.index(last).reshape((BLOCK_N, D)), acc, is_async=True)
    acc = warpgroup_mma_wait(0, deps=(acc,))
    o = acc / gl.convert_layout(l_i, gl.SliceLayout(1, OUT))[:, None]
    # Nobody reads these queries any more: o takes their place, and TMA leaves out the rows past S.
    q.store(o.to(o_desc.dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(o_desc, [head, start_m, 0], q_smem.index(half))
    tma.store_wait(0)


@gluon.jit
def flash_kernel(
    q_desc, k_desc, v_desc, o_desc, S, scale, CAUSAL: gl.constexpr, STAGES: gl.constexpr,
    ATTENDS: gl.constexpr, LOADS: gl.constexpr,
):  # fmt: skip
    """o of 2 * BLOCK_M queries of one head, a half for each of two warp groups; scale is in base 2."""
    BLOCK_M: gl.constexpr = q_desc.block_type.shape[1]
    D: gl.constexpr = q_desc.block_type.shape[2]
    BLOCK_N: gl.constexpr = k_desc.block_type.shape[1]
    q_smem = gl.allocate_shared_memory(q_desc.dtype, [2, 1, BLOCK_M, D], q_desc.layout)
    k_smem = gl.allocate_shared_memory(k_desc.dtype, [STAGES, 1, BLOCK_N, D], k_desc.layout)
    v_smem = gl.allocate_shared_memory(v_desc.dtype, [STAGES, 1, BLOCK_N, D], v_desc.layout)
    q_full = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    k_full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    k_empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    v_full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    v_empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(2):
        mbarrier.init(q_full.index(i), count=1)
    for i in gl.static_range(STAGES):
        mbarrier.init(k_full.index(i), count=1)
        mbarrier.init(v_full.index(i), count=1)
        mbarrier.init(k_empty.index(i), count=2)  # both warp groups have read it
        mbarrier.init(v_empty.index(i), count=2)
    fence_async_shared()
    pid = gl.program_id(0)
    head = gl.program_id(1)
    if CAUSAL:
        pid = gl.num_programs(0) - 1 - pid  # those with the most keys first: short ones fill the end
    row = pid * 2 * BLOCK_M
    end = gl.minimum(row + 2 * BLOCK_M, S) if CAUSAL else S
    blocks = gl.cdiv(end, BLOCK_N)
    gl.warp_specialize([
        (attend, (
            0, o_desc, q_smem, k_smem, v_smem, q_full, k_full, k_empty, v_full, v_empty,
            head, row, blocks, S, scale, CAUSAL,
        )),
        (attend, (
            1, o_desc, q_smem, k_smem, v_smem, q_full, k_full, k_empty, v_full, v_empty,
            head, row, blocks, S, scale, CAUSAL,
        )),
        (load_keys, (
            q_desc, k_desc, v_desc, q_smem, k_smem, v_smem, q_full, k_full, k_empty, v_full, v_empty,
            head, row, blocks,
        )),
    ], [4, 1], [ATTENDS, LOADS])  # fmt: skip


def described(x: torch.Tensor, rows: int) -> TensorDescriptor:
    """x[b, h, s, d] as [b * h, s, d] in blocks of some rows of one head: a block ends where its head does."""
    B, H, S, D = x.shape
    block = [1, rows, D]
    layout = gl.NVMMASharedLayout.get_default_for(block, DTYPES[x.dtype])
    return TensorDescriptor.from_tensor(x.view(B * H, S, D), block, layout)


def flash(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """Return softmax(q kᵀ / √d) v as a new, contiguous [b, h, s, d] in q's dtype.

    q, k, v[b, h, s, d]: contiguous, all fp16 or all bf16, d 64 or 128. Causal: query i sees the keys up to i.
    """
    B, H, S, D = q.shape
    o = torch.empty_like(q)
    flash_kernel[triton.cdiv(S, 2 * BLOCK_M), B * H](
        described(q, BLOCK_M), described(k, BLOCK_N), described(v, BLOCK_N), described(o, BLOCK_M),
        S, LOG2_E / math.sqrt(D), causal, STAGES, ATTENDS, LOADS, num_warps=4,
    )  # fmt: skip
    return o
