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
    # TODO 1: in each turn copy a block of k and one of v, from the last block to the first.


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
    # TODO 2: turn 0: the scores of the last block of keys. Mask them; then m_i, l_i and the weights p.
    # TODO 3: each turn after it: start the next scores, then the product of the weights before with their v.
    # TODO 4: wait for the scores alone, hand back k, and take their softmax while the product runs.
    # TODO 5: wait for the product, hand back v, and only now rescale acc.
    # TODO 6: behind the loop the last weights and their v; then o, which TMA stores from where q was.


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
        # TODO 7: how many hand back a block of k, or of v?
    fence_async_shared()
    pid = gl.program_id(0)
    head = gl.program_id(1)
    if CAUSAL:
        pid = gl.num_programs(0) - 1 - pid  # those with the most keys first: short ones fill the end
    row = pid * 2 * BLOCK_M
    # TODO 8: the number of blocks that this program's queries see.
    # TODO 9: let four warps attend, four more, and one load.


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
