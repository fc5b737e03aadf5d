"""Keys from the first to the last, a mask where a block needs one, and each product waited for at once."""

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

ROWS, KEYS, RING = 64, 128, 2


@gluon.jit
def feed(q, k, v, q_s, k_s, v_s, q_bar, full, empty, head, row, end):
    ROWS: gl.constexpr = q_s.shape[2]
    KEYS: gl.constexpr = k_s.shape[2]
    RING: gl.constexpr = k_s.shape[0]
    mbarrier.expect(q_bar, 2 * q.block_type.nbytes)
    tma.async_copy_global_to_shared(q, [head, row, 0], q_bar, q_s.index(0))
    tma.async_copy_global_to_shared(q, [head, row + ROWS, 0], q_bar, q_s.index(1))
    at, phase = 0, 1
    for start in range(0, end, KEYS):
        mbarrier.wait(empty.index(at), phase)
        mbarrier.expect(full.index(at), 2 * k.block_type.nbytes)
        tma.async_copy_global_to_shared(k, [head, start, 0], full.index(at), k_s.index(at))
        tma.async_copy_global_to_shared(v, [head, start, 0], full.index(at), v_s.index(at))
        at += 1
        if at == RING:
            at, phase = 0, phase ^ 1


@gluon.jit
def work(half, o, q_s, k_s, v_s, q_bar, full, empty, head, row, end, length, scale, CAUSAL: gl.constexpr):
    ROWS: gl.constexpr = q_s.shape[2]
    D: gl.constexpr = q_s.shape[3]
    KEYS: gl.constexpr = k_s.shape[2]
    RING: gl.constexpr = k_s.shape[0]
    WIDE: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, KEYS, 16])
    OUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 16])
    row += half * ROWS
    mbarrier.wait(q_bar, 0)
    q = q_s.index(half).reshape((ROWS, D))
    out = gl.zeros((ROWS, D), gl.float32, OUT)
    total = gl.zeros((ROWS,), gl.float32, gl.SliceLayout(1, WIDE))
    top = gl.full((ROWS,), -3e38, gl.float32, gl.SliceLayout(1, WIDE))
    limit = gl.full((ROWS,), 0, gl.int32, gl.SliceLayout(1, WIDE)) + length
    if CAUSAL:
        limit = gl.minimum(limit, row + 1 + gl.arange(0, ROWS, gl.SliceLayout(1, WIDE)))
    nothing = gl.zeros((ROWS, KEYS), gl.float32, WIDE)
    at, phase = 0, 0
    for start in range(0, end, KEYS):
        mbarrier.wait(full.index(at), phase)
        keys = k_s.index(at).reshape((KEYS, D)).permute((1, 0))
        s = warpgroup_mma(q, keys, nothing, use_acc=False, is_async=True)
        s = warpgroup_mma_wait(0, deps=(s,)) * scale
        if start + KEYS > (row if CAUSAL else length):
            cols = start + gl.arange(0, KEYS, gl.SliceLayout(0, WIDE))
            s = gl.where(cols[None, :] < limit[:, None], s, -float("inf"))
        higher = gl.maximum(top, gl.max(s, 1))
        p = gl.exp2(s - higher[:, None])
        shrink = gl.exp2(top - higher)
        total = total * shrink + gl.sum(p, 1)
        out = out * gl.convert_layout(shrink, gl.SliceLayout(1, OUT))[:, None]
        top = higher
        p = gl.convert_layout(p.to(o.dtype), gl.DotOperandLayout(0, OUT, 2))
        out = warpgroup_mma(p, v_s.index(at).reshape((KEYS, D)), out, is_async=True)
        out = warpgroup_mma_wait(0, deps=(out,))
        mbarrier.arrive(empty.index(at), count=1)
        at += 1
        if at == RING:
            at, phase = 0, phase ^ 1
    q.store((out / gl.convert_layout(total, gl.SliceLayout(1, OUT))[:, None]).to(o.dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(o, [head, row, 0], q_s.index(half))
    tma.store_wait(0)


@gluon.jit
def kernel(q, k, v, o, length, scale, CAUSAL: gl.constexpr, RING: gl.constexpr):
    ROWS: gl.constexpr = q.block_type.shape[1]
    D: gl.constexpr = q.block_type.shape[2]
    KEYS: gl.constexpr = k.block_type.shape[1]
    q_s = gl.allocate_shared_memory(q.dtype, [2, 1, ROWS, D], q.layout)
    k_s = gl.allocate_shared_memory(k.dtype, [RING, 1, KEYS, D], k.layout)
    v_s = gl.allocate_shared_memory(v.dtype, [RING, 1, KEYS, D], v.layout)
    q_bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    full = gl.allocate_shared_memory(gl.int64, [RING, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [RING, 1], mbarrier.MBarrierLayout())
    mbarrier.init(q_bar, count=1)
    for at in gl.static_range(RING):
        mbarrier.init(full.index(at), count=1)
        mbarrier.init(empty.index(at), count=2)
    fence_async_shared()
    head = gl.program_id(1)
    row = gl.program_id(0) * 2 * ROWS
    end = gl.minimum(row + 2 * ROWS, length) if CAUSAL else length
    gl.warp_specialize(
        [
            (work, (0, o, q_s, k_s, v_s, q_bar, full, empty, head, row, end, length, scale, CAUSAL)),
            (work, (1, o, q_s, k_s, v_s, q_bar, full, empty, head, row, end, length, scale, CAUSAL)),
            (feed, (q, k, v, q_s, k_s, v_s, q_bar, full, empty, head, row, end)),
        ],
        [4, 1],
        [240, 24],
    )


def flash(q, k, v, causal):
    b, h, s, d = q.shape
    o = torch.empty_like(q)
    dtype = gl.float16 if q.dtype == torch.float16 else gl.bfloat16
    blocks = []
    for x, rows in ((q, ROWS), (k, KEYS), (v, KEYS), (o, ROWS)):
        layout = gl.NVMMASharedLayout.get_default_for([1, rows, d], dtype)
        blocks.append(TensorDescriptor.from_tensor(x.view(b * h, s, d), [1, rows, d], layout))
    scale = 1.4426950408889634 * d**-0.5
    kernel[(triton.cdiv(s, 2 * ROWS), b * h)](*blocks, s, scale, causal, RING, num_warps=4)
    return o
