"""Each warp group has an accumulator and a function of its own; they share the blocks of b."""

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

ROWS, COLS, DEPTH, RING, BAND = 64, 256, 64, 3, 8


@gluon.jit
def where(tile, down, across, BAND: gl.constexpr):
    top = tile // (BAND * across) * BAND
    high = gl.minimum(down - top, BAND)
    return top + tile % (BAND * across) % high, tile % (BAND * across) // high


@gluon.jit
def feed(x, y, xs, ys, there, gone, down, across, deep, BAND: gl.constexpr):
    ROWS: gl.constexpr = xs.shape[1]
    DEPTH: gl.constexpr = ys.shape[1]
    COLS: gl.constexpr = ys.shape[2]
    RING: gl.constexpr = ys.shape[0]
    at, phase = 0, 1
    for tile in range(gl.program_id(0), down * across, gl.num_programs(0)):
        i, j = where(tile, down, across, BAND)
        for step in range(deep):
            mbarrier.wait(gone.index(at), phase)
            bar = there.index(at)
            mbarrier.expect(bar, 2 * x.block_type.nbytes + y.block_type.nbytes)
            for half in gl.static_range(2):
                tma.async_copy_global_to_shared(
                    x, [(2 * i + half) * ROWS, step * DEPTH], bar, xs.index(2 * at + half)
                )
            tma.async_copy_global_to_shared(y, [step * DEPTH, j * COLS], bar, ys.index(at))
            at += 1
            if at == RING:
                at, phase = 0, phase ^ 1


@gluon.jit
def consume(half, z, xs, ys, zs, there, gone, down, across, deep, BAND: gl.constexpr):
    ROWS: gl.constexpr = xs.shape[1]
    COLS: gl.constexpr = ys.shape[2]
    RING: gl.constexpr = ys.shape[0]
    LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, COLS, 16])
    turn = 0
    for tile in range(gl.program_id(0), down * across, gl.num_programs(0)):
        i, j = where(tile, down, across, BAND)
        total = gl.zeros((ROWS, COLS), gl.float32, LAYOUT)
        for step in range(deep):
            at = turn % RING
            mbarrier.wait(there.index(at), turn // RING & 1)
            total = warpgroup_mma(xs.index(2 * at + half), ys.index(at), total, is_async=True)
            total = warpgroup_mma_wait(1, deps=(total,))
            if step > 0:
                mbarrier.arrive(gone.index((turn - 1) % RING), count=1)
            turn += 1
        total = warpgroup_mma_wait(0, deps=(total,))
        mbarrier.arrive(gone.index((turn - 1) % RING), count=1)
        tma.store_wait(0)
        zs.index(half).store(total.to(z.dtype))
        fence_async_shared()
        tma.async_copy_shared_to_global(z, [(2 * i + half) * ROWS, j * COLS], zs.index(half))
    tma.store_wait(0)


@gluon.jit
def kernel(x, y, z, down, across, deep, RING: gl.constexpr, BAND: gl.constexpr):
    ROWS: gl.constexpr = x.block_type.shape[0]
    DEPTH: gl.constexpr = y.block_type.shape[0]
    COLS: gl.constexpr = y.block_type.shape[1]
    xs = gl.allocate_shared_memory(x.dtype, [2 * RING, ROWS, DEPTH], x.layout)
    ys = gl.allocate_shared_memory(y.dtype, [RING, DEPTH, COLS], y.layout)
    zs = gl.allocate_shared_memory(z.dtype, [2, ROWS, COLS], z.layout)
    there = gl.allocate_shared_memory(gl.int64, [RING, 1], mbarrier.MBarrierLayout())
    gone = gl.allocate_shared_memory(gl.int64, [RING, 1], mbarrier.MBarrierLayout())
    for at in gl.static_range(RING):
        mbarrier.init(there.index(at), count=1)
        mbarrier.init(gone.index(at), count=2)
    fence_async_shared()
    gl.warp_specialize(
        [
            (consume, (0, z, xs, ys, zs, there, gone, down, across, deep, BAND)),
            (consume, (1, z, xs, ys, zs, there, gone, down, across, deep, BAND)),
            (feed, (x, y, xs, ys, there, gone, down, across, deep, BAND)),
        ],
        [4, 1],
        [240, 24],
    )


def in_blocks(tensor, *block):
    dtype = gl.float16 if tensor.dtype == torch.float16 else gl.bfloat16
    layout = gl.NVMMASharedLayout.get_default_for(list(block), dtype)
    return TensorDescriptor.from_tensor(tensor, list(block), layout)


def matmul(a, b):
    m, k = a.shape
    n = b.shape[1]
    c = a.new_empty(m, n)
    down, across = triton.cdiv(m, 2 * ROWS), triton.cdiv(n, COLS)
    programs = 132 if not a.is_cuda else torch.cuda.get_device_properties(a.device).multi_processor_count
    blocks = in_blocks(a, ROWS, DEPTH), in_blocks(b, DEPTH, COLS), in_blocks(c, ROWS, COLS)
    kernel[(min(programs, down * across),)](
        *blocks, down, across, triton.cdiv(k, DEPTH), RING, BAND, num_warps=4
    )
    return c
