"""A barrier for q and do together, two slots of dsᵀ, and results that leave from registers."""

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

TALL, WIDE, RING, SWAPS = 64, 64, 4, 2


@gluon.jit
def before(o, do, lse, dots, lse2, total, n, room, D: gl.constexpr, SIDE: gl.constexpr):
    L: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    head = gl.program_id(1).to(gl.int64)
    i = gl.program_id(0) * SIDE + gl.arange(0, SIDE, layout=gl.SliceLayout(1, L))
    at = i[:, None] * D + gl.arange(0, D, layout=gl.SliceLayout(0, L))[None, :]
    here = gl.load(o + head * n * D + at, mask=at < n * D, other=0.0).to(gl.float32)
    here *= gl.load(do + head * n * D + at, mask=at < n * D, other=0.0).to(gl.float32)
    gl.store(dots + head * room + i, gl.sum(here, 1))
    gl.store(lse2 + head * room + i, gl.load(lse + head * n + i, mask=i < n, other=0.0) * 1.4426950408889634)
    gl.store(total + head * room * D + at, gl.full((SIDE, D), 0.0, gl.float32, L))


@gluon.jit
def after(total, dq, n, room, factor, D: gl.constexpr, SIDE: gl.constexpr):
    L: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    head = gl.program_id(1).to(gl.int64)
    i = gl.program_id(0) * SIDE + gl.arange(0, SIDE, layout=gl.SliceLayout(1, L))
    at = i[:, None] * D + gl.arange(0, D, layout=gl.SliceLayout(0, L))[None, :]
    x = gl.load(total + head * room * D + at) * factor
    gl.store(dq + head * n * D + at, x.to(dq.dtype.element_ty), mask=at < n * D)


@gluon.jit
def bring(q, k, v, do, own, ring, where):
    ks, vs, stay = own
    qs, dos, there, gone = ring
    head, key, begin, turns = where
    WIDE: gl.constexpr = ks.shape[2]
    TALL: gl.constexpr = qs.shape[2]
    RING: gl.constexpr = qs.shape[0]
    mbarrier.expect(stay, 4 * k.block_type.nbytes)
    for half in gl.static_range(2):
        tma.async_copy_global_to_shared(k, [head, key + half * WIDE, 0], stay, ks.index(half))
        tma.async_copy_global_to_shared(v, [head, key + half * WIDE, 0], stay, vs.index(half))
    at, phase = 0, 1
    for turn in range(turns):
        mbarrier.wait(gone.index(at), phase)
        mbarrier.expect(there.index(at), 2 * q.block_type.nbytes)
        place = [head, begin + turn * TALL, 0]
        tma.async_copy_global_to_shared(q, place, there.index(at), qs.index(at))
        tma.async_copy_global_to_shared(do, place, there.index(at), dos.index(at))
        at += 1
        if at == RING:
            at, phase = 0, phase ^ 1


@gluon.jit
def work(HALF: gl.constexpr, out, numbers, own, ring, swap, where, n, factor, factor2, CAUSAL: gl.constexpr):
    dk_out, dv_out = out
    lse2, dots = numbers
    ks, vs, stay = own
    qs, dos, there, gone = ring
    swaps, swap_full, swap_empty = swap
    head, key, begin, turns = where
    RING: gl.constexpr = qs.shape[0]
    SWAPS: gl.constexpr = swaps.shape[0] // 2
    TALL: gl.constexpr = qs.shape[2]
    WIDE: gl.constexpr = ks.shape[2]
    D: gl.constexpr = ks.shape[3]
    S: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, TALL, 16])
    O: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 16])  # noqa: E741
    A: gl.constexpr = gl.DotOperandLayout(0, O, 2)
    j = key + HALF * WIDE + gl.arange(0, WIDE, layout=gl.SliceLayout(1, S))
    nothing = gl.zeros((WIDE, TALL), gl.float32, S)
    dk = gl.zeros((WIDE, D), gl.float32, O)
    dv = gl.zeros((WIDE, D), gl.float32, O)
    mbarrier.wait(stay, 0)
    k, v = ks.index(HALF).reshape((WIDE, D)), vs.index(HALF).reshape((WIDE, D))
    for turn in range(turns):
        at = turn % RING
        mbarrier.wait(there.index(at), turn // RING & 1)
        q, do = qs.index(at).reshape((TALL, D)), dos.index(at).reshape((TALL, D))
        s = warpgroup_mma(k, q.permute((1, 0)), nothing, use_acc=False, is_async=True)
        dp = warpgroup_mma(v, do.permute((1, 0)), nothing, use_acc=False, is_async=True)
        i = begin + turn * TALL + gl.arange(0, TALL, layout=gl.SliceLayout(0, S))
        shift = gl.load(lse2 + i)
        s = warpgroup_mma_wait(1, deps=(s,))
        p = gl.exp2(s * factor2 - shift[None, :])
        if key + 2 * WIDE > n:
            p = gl.where((j < n)[:, None], p, 0.0)
        if CAUSAL and begin + turn * TALL < key + 2 * WIDE:
            p = gl.where(j[:, None] <= i[None, :], p, 0.0)
        dot = gl.load(dots + i)
        dv = warpgroup_mma(gl.convert_layout(p.to(qs.dtype), A), do, dv, is_async=True)
        dp, dv = warpgroup_mma_wait(1, deps=(dp, dv))
        ds = (p * (dp - dot[None, :])).to(qs.dtype)
        slot = turn % SWAPS
        mbarrier.wait(swap_empty.index(slot), (turn // SWAPS & 1) ^ 1)
        swaps.index(2 * slot + HALF).store(ds)
        fence_async_shared()
        mbarrier.arrive(swap_full.index(slot), count=1)
        dk = warpgroup_mma(gl.convert_layout(ds, A), q, dk, is_async=True)
        dk, dv = warpgroup_mma_wait(0, deps=(dk, dv))
        mbarrier.arrive(gone.index(at), count=1)
    rows = key + HALF * WIDE + gl.arange(0, WIDE, layout=gl.SliceLayout(1, O))
    at = rows[:, None] * D + gl.arange(0, D, layout=gl.SliceLayout(0, O))[None, :]
    base = head.to(gl.int64) * n * D
    gl.store(dv_out + base + at, dv.to(qs.dtype), mask=at < n * D)
    gl.store(dk_out + base + at, (dk * factor).to(qs.dtype), mask=at < n * D)


@gluon.jit
def gather(total, own, swap, where):
    ks, _, stay = own
    swaps, swap_full, swap_empty = swap
    _, _, begin, turns = where
    SWAPS: gl.constexpr = swaps.shape[0] // 2
    TALL: gl.constexpr = swaps.shape[2]
    WIDE: gl.constexpr = ks.shape[2]
    D: gl.constexpr = ks.shape[3]
    Q: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 16])
    at = gl.arange(0, TALL, layout=gl.SliceLayout(1, Q))[:, None] * D
    at += gl.arange(0, D, layout=gl.SliceLayout(0, Q))[None, :]
    mbarrier.wait(stay, 0)
    for turn in range(turns):
        slot = turn % SWAPS
        mbarrier.wait(swap_full.index(slot), turn // SWAPS & 1)
        dq = gl.zeros((TALL, D), gl.float32, Q)
        for half in gl.static_range(2):
            dq = warpgroup_mma(
                swaps.index(2 * slot + half).permute((1, 0)), ks.index(half).reshape((WIDE, D)), dq
            )
        mbarrier.arrive(swap_empty.index(slot), count=1)
        gl.atomic_add(total + (begin + turn * TALL) * D + at, dq, sem="relaxed")


@gluon.jit
def kernel(
    q, k, v, do, dk, dv, lse2, dots, total, n, room, factor, factor2,
    CAUSAL: gl.constexpr, RING: gl.constexpr, SWAPS: gl.constexpr,
):  # fmt: skip
    TALL: gl.constexpr = q.block_type.shape[1]
    WIDE: gl.constexpr = k.block_type.shape[1]
    D: gl.constexpr = k.block_type.shape[2]
    ks = gl.allocate_shared_memory(k.dtype, [2, 1, WIDE, D], k.layout)
    vs = gl.allocate_shared_memory(k.dtype, [2, 1, WIDE, D], k.layout)
    qs = gl.allocate_shared_memory(q.dtype, [RING, 1, TALL, D], q.layout)
    dos = gl.allocate_shared_memory(q.dtype, [RING, 1, TALL, D], q.layout)
    L: gl.constexpr = gl.NVMMASharedLayout.get_default_for([WIDE, TALL], q.dtype)
    swaps = gl.allocate_shared_memory(q.dtype, [2 * SWAPS, WIDE, TALL], L)
    stay = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    there = gl.allocate_shared_memory(gl.int64, [RING, 1], mbarrier.MBarrierLayout())
    gone = gl.allocate_shared_memory(gl.int64, [RING, 1], mbarrier.MBarrierLayout())
    swap_full = gl.allocate_shared_memory(gl.int64, [SWAPS, 1], mbarrier.MBarrierLayout())
    swap_empty = gl.allocate_shared_memory(gl.int64, [SWAPS, 1], mbarrier.MBarrierLayout())
    mbarrier.init(stay, count=1)
    for at in gl.static_range(RING):
        mbarrier.init(there.index(at), count=1)
        mbarrier.init(gone.index(at), count=2)
    for at in gl.static_range(SWAPS):
        mbarrier.init(swap_full.index(at), count=2)
        mbarrier.init(swap_empty.index(at), count=1)
    fence_async_shared()
    head = gl.program_id(1)
    key = gl.program_id(0) * 2 * WIDE
    begin = key if CAUSAL else 0
    lse2 += head.to(gl.int64) * room
    dots += head.to(gl.int64) * room
    total += head.to(gl.int64) * room * D
    own, ring, swap = (ks, vs, stay), (qs, dos, there, gone), (swaps, swap_full, swap_empty)
    where = (head, key, begin, gl.cdiv(n - begin, TALL))
    out, numbers = (dk, dv), (lse2, dots)
    gl.warp_specialize(
        [
            (work, (0, out, numbers, own, ring, swap, where, n, factor, factor2, CAUSAL)),
            (work, (1, out, numbers, own, ring, swap, where, n, factor, factor2, CAUSAL)),
            (gather, (total, own, swap, where)),
            (bring, (q, k, v, do, own, ring, where)),
        ],
        [4, 4, 1],
        [208, 72, 24],
    )


def in_blocks(x, side):
    block = [1, side, x.shape[-1]]
    dtype = gl.float16 if x.dtype == torch.float16 else gl.bfloat16
    return TensorDescriptor.from_tensor(
        x.view(-1, *x.shape[2:]), block, gl.NVMMASharedLayout.get_default_for(block, dtype)
    )


def flash_backward(q, k, v, o, lse, do, causal):
    B, H, n, D = q.shape
    dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
    room = triton.cdiv(n, TALL) * TALL
    dots, lse2 = (lse.new_empty(B * H, room) for _ in range(2))
    total = lse.new_empty(B * H, room, D)
    factor = 1 / math.sqrt(D)
    before[(room // TALL, B * H)](o, do, lse, dots, lse2, total, n, room, D, TALL)
    blocks = [in_blocks(x, TALL if x is q or x is do else WIDE) for x in (q, k, v, do)]
    kernel[(triton.cdiv(n, 2 * WIDE), B * H)](
        *blocks,
        dk,
        dv,
        lse2,
        dots,
        total,
        n,
        room,
        factor,
        factor * math.log2(math.e),
        causal,
        RING,
        SWAPS,
        num_warps=4,
    )
    after[(room // TALL, B * H)](total, dq, n, room, factor, D, TALL)
    return dq, dk, dv
