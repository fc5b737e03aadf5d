"""Extra: flash attention's backward pass in one walk; two warp groups own keys, a third adds to dq."""

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

# Two halves of k and v, 32 KB; three stages of q and do, 48 KB; three slots of dsᵀ, 48 KB: of an SM's 227.
ROWS, BLOCK_M = 64, 64  # the keys of a warp group, of which two own some; the queries of a turn
STAGES, SLOTS = 3, 3
LOG2_E = math.log2(math.e)
DTYPES = {torch.float16: gl.float16, torch.bfloat16: gl.bfloat16}
# A thread that owns holds 64 sums of dk and dv, 32 scores, 32 of dp. The first group gets what is left: 208.
OWNS, ADDS, LOADS = 208, 72, 24  # registers


@gluon.jit
def prepare_kernel(
    o_ptr, do_ptr, lse_ptr, delta_ptr, lse2_ptr, dq32_ptr, S, padded, D: gl.constexpr, BLOCK_M: gl.constexpr,
    LOG2_E: gl.constexpr,
):  # fmt: skip
    """delta = Σ o ∘ do, lse in base 2, and zeros for dq in fp32: BLOCK_M queries of one head, of `padded`."""
    LAYOUT: gl.constexpr = gl.BlockedLayout([1, 8], [256 // D, D // 8], [4, 1], [1, 0])
    head = gl.program_id(1).to(gl.int64)
    rows = gl.program_id(0) * BLOCK_M + gl.arange(0, BLOCK_M, layout=gl.SliceLayout(1, LAYOUT))
    inside = rows[:, None] * D + gl.arange(0, D, layout=gl.SliceLayout(0, LAYOUT))[None, :]
    mask = inside < S * D
    o = gl.load(o_ptr + head * S * D + inside, mask=mask, other=0.0).to(gl.float32)
    do = gl.load(do_ptr + head * S * D + inside, mask=mask, other=0.0).to(gl.float32)
    lse = gl.load(lse_ptr + head * S + rows, mask=rows < S, other=0.0)
    gl.store(delta_ptr + head * padded + rows, gl.sum(o * do, 1))
    gl.store(lse2_ptr + head * padded + rows, lse * LOG2_E)
    gl.store(dq32_ptr + head * padded * D + inside, gl.zeros((BLOCK_M, D), gl.float32, LAYOUT))


@gluon.jit
def round_kernel(dq32_ptr, dq_ptr, S, padded, scale, D: gl.constexpr, BLOCK_M: gl.constexpr):
    """dq = dq32 · scale in 16 bits, BLOCK_M queries of one head."""
    LAYOUT: gl.constexpr = gl.BlockedLayout([1, 8], [256 // D, D // 8], [4, 1], [1, 0])
    head = gl.program_id(1).to(gl.int64)
    rows = gl.program_id(0) * BLOCK_M + gl.arange(0, BLOCK_M, layout=gl.SliceLayout(1, LAYOUT))
    inside = rows[:, None] * D + gl.arange(0, D, layout=gl.SliceLayout(0, LAYOUT))[None, :]
    dq = gl.load(dq32_ptr + head * padded * D + inside) * scale
    gl.store(dq_ptr + head * S * D + inside, dq.to(dq_ptr.dtype.element_ty), mask=inside < S * D)


@gluon.jit
def load_blocks(q_desc, k_desc, v_desc, do_desc, keys, queries, place):
    """One warp: this program's keys and values once, then the queries that see them, and their do."""
    k_smem, v_smem, kv_full = keys
    q_smem, do_smem, q_full, do_full, empty = queries
    head, start_n, first, blocks = place
    STAGES: gl.constexpr = q_smem.shape[0]
    BLOCK_M: gl.constexpr = q_smem.shape[2]
    ROWS: gl.constexpr = k_smem.shape[2]
    mbarrier.expect(kv_full, 4 * k_desc.block_type.nbytes)
    for half in gl.static_range(2):
        tma.async_copy_global_to_shared(k_desc, [head, start_n + half * ROWS, 0], kv_full, k_smem.index(half))
        tma.async_copy_global_to_shared(v_desc, [head, start_n + half * ROWS, 0], kv_full, v_smem.index(half))
    for turn in range(blocks):
        stage = turn % STAGES
        start_m = first + turn * BLOCK_M
        mbarrier.wait(empty.index(stage), (turn // STAGES & 1) ^ 1)
        mbarrier.expect(q_full.index(stage), q_desc.block_type.nbytes)
        tma.async_copy_global_to_shared(q_desc, [head, start_m, 0], q_full.index(stage), q_smem.index(stage))
        mbarrier.expect(do_full.index(stage), do_desc.block_type.nbytes)
        tma.async_copy_global_to_shared(
            do_desc, [head, start_m, 0], do_full.index(stage), do_smem.index(stage)
        )


@gluon.jit
def store_keys(desc, smem, x, head, row):
    """x of 64 keys, in 16 bits, from shared memory that nobody else uses any more."""
    smem.reshape(x.shape).store(x.to(desc.dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(desc, [head, row, 0], smem)
    tma.store_wait(0)


@gluon.jit
def own_keys(half, outputs, rows, keys, queries, passed, place, S, scale, scale2, CAUSAL: gl.constexpr):
    """Four warps: dk and dv of 64 keys. dsᵀ of each turn goes on to the third group."""
    # TODO 1: start the scores of a block of queries and dpᵀ, keys down and queries across.
    # TODO 2: pᵀ from the scores and lse2, while dpᵀ is computed. Mask keys past the end, and the diagonal.
    # TODO 3: start dv's product, pᵀ from registers. Then dsᵀ, once dpᵀ is there.
    # TODO 4: hand dsᵀ to the third group, in a slot that is empty, and start dk's product.
    # TODO 5: wait for both products, and hand q and do back.
    # TODO 6: behind the loop store dv and dk, which still needs its scale, from where v was.


@gluon.jit
def add_queries(dq32_ptr, keys, passed, place):
    """Four warps: add to dq what each block of queries gets from both groups' keys."""
    # TODO 7: wait for both halves of dsᵀ. dq is ds k, and ds is dsᵀ, read down its columns.
    # TODO 8: hand the slot back, and add to dq32, in any order.


@gluon.jit
def flash_backward_kernel(
    q_desc, k_desc, v_desc, do_desc, dk_desc, dv_desc, lse2_ptr, delta_ptr, dq32_ptr, heads, tiles, S, padded,
    scale, scale2, CAUSAL: gl.constexpr, STAGES: gl.constexpr, SLOTS: gl.constexpr, HEADS: gl.constexpr,
    OWNS: gl.constexpr, ADDS: gl.constexpr, LOADS: gl.constexpr,
):  # fmt: skip
    """dk and dv of 128 keys of one head, and what they add to dq; scale2 is the scale in base 2."""
    BLOCK_M: gl.constexpr = q_desc.block_type.shape[1]
    ROWS: gl.constexpr = k_desc.block_type.shape[1]
    D: gl.constexpr = k_desc.block_type.shape[2]
    k_smem = gl.allocate_shared_memory(k_desc.dtype, [2, 1, ROWS, D], k_desc.layout)
    v_smem = gl.allocate_shared_memory(k_desc.dtype, [2, 1, ROWS, D], k_desc.layout)
    q_smem = gl.allocate_shared_memory(q_desc.dtype, [STAGES, 1, BLOCK_M, D], q_desc.layout)
    do_smem = gl.allocate_shared_memory(q_desc.dtype, [STAGES, 1, BLOCK_M, D], q_desc.layout)
    DS: gl.constexpr = gl.NVMMASharedLayout.get_default_for([ROWS, BLOCK_M], q_desc.dtype)
    ds_smem = gl.allocate_shared_memory(q_desc.dtype, [2 * SLOTS, ROWS, BLOCK_M], DS)
    kv_full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    q_full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    do_full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    ds_full = gl.allocate_shared_memory(gl.int64, [SLOTS, 1], mbarrier.MBarrierLayout())
    ds_empty = gl.allocate_shared_memory(gl.int64, [SLOTS, 1], mbarrier.MBarrierLayout())
    mbarrier.init(kv_full, count=1)
    for i in gl.static_range(STAGES):
        mbarrier.init(q_full.index(i), count=1)
        mbarrier.init(do_full.index(i), count=1)
        mbarrier.init(empty.index(i), count=2)
    # TODO 9: how many arrive at a slot of dsᵀ when it is full, and when it is empty?
    fence_async_shared()
    # Keys 0 … 127 of HEADS heads, then the next 128 of the same: causal, the first ones are seen by the most.
    pid = gl.program_id(0)
    lead = pid // (HEADS * tiles) * HEADS
    size = gl.minimum(heads - lead, HEADS)
    head = lead + pid % (HEADS * tiles) % size
    start_n = pid % (HEADS * tiles) // size * (2 * ROWS)
    first = start_n if CAUSAL else 0
    lse2_ptr += head.to(gl.int64) * padded
    delta_ptr += head.to(gl.int64) * padded
    dq32_ptr += head.to(gl.int64) * padded * D
    keys = (k_smem, v_smem, kv_full)
    queries = (q_smem, do_smem, q_full, do_full, empty)
    passed = (ds_smem, ds_full, ds_empty)
    place = (head, start_n, first, gl.cdiv(S - first, BLOCK_M))
    outputs = (dk_desc, dv_desc)
    rows = (lse2_ptr, delta_ptr)
    # TODO 10: let four warps own keys, four more, four add to dq, and one load.


def described(x: torch.Tensor, rows: int) -> TensorDescriptor:
    """x[b, h, s, d] as [b * h, s, d] in blocks of some rows of one head: a block ends where its head does."""
    B, H, S, D = x.shape
    block = [1, rows, D]
    layout = gl.NVMMASharedLayout.get_default_for(block, DTYPES[x.dtype])
    return TensorDescriptor.from_tensor(x.view(B * H, S, D), block, layout)


def flash_backward(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    lse: torch.Tensor,
    do: torch.Tensor,
    causal: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the gradients of q, k and v as new, contiguous [b, h, s, 64] in their dtype.

    q, k, v, o, do[b, h, s, 64] are contiguous, all fp16 or all bf16; lse: fp32 [b, h, s], natural.
    """
    B, H, S, D = q.shape
    dq, dk, dv = (torch.empty_like(x) for x in (q, k, v))
    # Rows up to a whole block: what lies past a head's end is added there, and never read.
    padded = triton.cdiv(S, BLOCK_M) * BLOCK_M
    delta = torch.empty(B * H, padded, dtype=torch.float32, device=q.device)
    lse2 = torch.empty_like(delta)
    dq32 = torch.empty(B * H, padded, D, dtype=torch.float32, device=q.device)
    scale, tiles = D**-0.5, triton.cdiv(S, 2 * ROWS)
    prepare_kernel[(padded // BLOCK_M, B * H)](o, do, lse, delta, lse2, dq32, S, padded, D, BLOCK_M, LOG2_E)
    flash_backward_kernel[(tiles * B * H,)](
        *(described(x, rows) for x, rows in ((q, BLOCK_M), (k, ROWS), (v, ROWS), (do, BLOCK_M))),
        described(dk, ROWS),
        described(dv, ROWS),
        lse2,
        delta,
        dq32,
        B * H,
        tiles,
        S,
        padded,
        scale,
        scale * LOG2_E,
        causal,
        STAGES,
        SLOTS,
        4 if causal else 1,
        OWNS,
        ADDS,
        LOADS,
        num_warps=4,
    )
    round_kernel[(padded // BLOCK_M, B * H)](dq32, dq, S, padded, scale, D, BLOCK_M)
    return dq, dk, dv
