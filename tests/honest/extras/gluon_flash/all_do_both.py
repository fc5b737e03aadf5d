"""No warp has work of its own: eight warps ask for the next keys, and attend to the last ones."""

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

QUERIES, KEYS = 128, 128


@gluon.jit
def ask(desc, smem, bars, head, turn, blocks):
    """Ask for the block of a turn; turn 0 has the last keys."""
    buffer, there = turn % 2, turn < blocks
    mbarrier.expect(bars.index(buffer), desc.block_type.nbytes, pred=there)
    start = (blocks - 1 - turn) * desc.block_type.shape[1]
    tma.async_copy_global_to_shared(
        desc, [head, start, 0], bars.index(buffer), smem.index(buffer), pred=there
    )


@gluon.jit
def attention_kernel(q_desc, k_desc, v_desc, o_desc, seq, scale, CAUSAL: gl.constexpr):
    QUERIES: gl.constexpr = q_desc.block_type.shape[1]
    KEYS: gl.constexpr = k_desc.block_type.shape[1]
    D: gl.constexpr = q_desc.block_type.shape[2]
    S_LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [8, 1], [16, KEYS, 16])
    O_LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [8, 1], [16, D, 16])
    q_smem = gl.allocate_shared_memory(q_desc.dtype, [1, QUERIES, D], q_desc.layout)
    k_smem = gl.allocate_shared_memory(k_desc.dtype, [2, 1, KEYS, D], k_desc.layout)
    v_smem = gl.allocate_shared_memory(v_desc.dtype, [2, 1, KEYS, D], v_desc.layout)
    q_bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    k_bars = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    v_bars = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    mbarrier.init(q_bar, count=1)
    for i in gl.static_range(2):
        mbarrier.init(k_bars.index(i), count=1)
        mbarrier.init(v_bars.index(i), count=1)
    fence_async_shared()
    head = gl.program_id(1)
    start_m = (gl.num_programs(0) - 1 - gl.program_id(0)) * QUERIES
    blocks = gl.cdiv(gl.minimum(seq, start_m + QUERIES) if CAUSAL else seq, KEYS)
    mbarrier.expect(q_bar, q_desc.block_type.nbytes)
    tma.async_copy_global_to_shared(q_desc, [head, start_m, 0], q_bar, q_smem)
    for i in gl.static_range(2):
        ask(k_desc, k_smem, k_bars, head, i, blocks)
        ask(v_desc, v_smem, v_bars, head, i, blocks)
    mbarrier.wait(q_bar, 0)
    q = q_smem.reshape((QUERIES, D))
    zeros = gl.zeros((QUERIES, KEYS), gl.float32, S_LAYOUT)
    acc = gl.zeros((QUERIES, D), gl.float32, O_LAYOUT)
    l_i = gl.zeros((QUERIES,), gl.float32, gl.SliceLayout(1, S_LAYOUT))
    m_i = gl.full((QUERIES,), -1e38, gl.float32, gl.SliceLayout(1, S_LAYOUT))
    for turn in range(blocks):
        b, parity = turn % 2, turn // 2 & 1
        mbarrier.wait(k_bars.index(b), parity)
        k = k_smem.index(b).reshape((KEYS, D)).permute((1, 0))
        qk = warpgroup_mma(q, k, zeros, use_acc=False, is_async=True)
        qk = warpgroup_mma_wait(0, deps=(qk,))
        ask(k_desc, k_smem, k_bars, head, turn + 2, blocks)
        if turn == 0:
            offs_n = (blocks - 1) * KEYS + gl.arange(0, KEYS, gl.SliceLayout(0, S_LAYOUT))
            if CAUSAL:
                offs_m = start_m + gl.arange(0, QUERIES, gl.SliceLayout(1, S_LAYOUT))
                qk = gl.where(offs_n[None, :] <= offs_m[:, None], qk, -float("inf"))
            qk = gl.where((offs_n < seq)[None, :], qk, -float("inf"))
        qk = qk * scale
        m_new = gl.maximum(m_i, gl.max(qk, 1))
        alpha = gl.exp2(m_i - m_new)
        p = gl.exp2(qk - m_new[:, None])
        l_i = l_i * alpha + gl.sum(p, 1)
        m_i = m_new
        acc = acc * gl.convert_layout(alpha, gl.SliceLayout(1, O_LAYOUT))[:, None]
        p = gl.convert_layout(p.to(q_desc.dtype), gl.DotOperandLayout(0, O_LAYOUT, 2))
        mbarrier.wait(v_bars.index(b), parity)
        acc = warpgroup_mma(p, v_smem.index(b).reshape((KEYS, D)), acc, is_async=True)
        acc = warpgroup_mma_wait(0, deps=(acc,))
        ask(v_desc, v_smem, v_bars, head, turn + 2, blocks)
    q.store((acc / gl.convert_layout(l_i, gl.SliceLayout(1, O_LAYOUT))[:, None]).to(q_desc.dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(o_desc, [head, start_m, 0], q_smem)
    tma.store_wait(0)


def tiles(x, rows):
    kind = {torch.float16: gl.float16, torch.bfloat16: gl.bfloat16}[x.dtype]
    block = [1, rows, x.shape[-1]]
    return TensorDescriptor.from_tensor(
        x.flatten(0, 1), block, gl.NVMMASharedLayout.get_default_for(block, kind)
    )


def flash(q, k, v, causal):
    o = torch.empty_like(q)
    scale = math.log2(math.e) / math.sqrt(q.shape[3])
    attention_kernel[triton.cdiv(q.shape[2], QUERIES), q.shape[0] * q.shape[1]](
        tiles(q, QUERIES), tiles(k, KEYS), tiles(v, KEYS), tiles(o, QUERIES),
        q.shape[2], scale, causal, num_warps=8,
    )  # fmt: skip
    return o
