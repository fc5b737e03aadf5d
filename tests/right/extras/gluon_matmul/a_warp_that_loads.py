"""A warp asks for frames and does nothing else, eight multiply; programs stay, and take tile after tile."""

from __future__ import annotations

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

ROWS, COLS, INNER, STAGES = 128, 256, 64, 3


@gluon.jit
def place(tile, high, wide):
    """Row and column where a tile begins, in units of tiles; eight rows of tiles at a time."""
    first = tile // (8 * wide) * 8
    rows = gl.minimum(high - first, 8)
    return first + tile % (8 * wide) % rows, tile % (8 * wide) // rows


@gluon.jit
def produce(a, b, a_smem, b_smem, full, free, high, wide, frames):
    STAGES: gl.constexpr = a_smem.shape[0]
    turn = 0
    for tile in range(gl.program_id(0), high * wide, gl.num_programs(0)):
        row, col = place(tile, high, wide)
        for frame in range(frames):
            stage = turn % STAGES
            mbarrier.wait(free.index(stage), 1 - turn // STAGES % 2)
            mbarrier.expect(full.index(stage), a.block_type.nbytes + b.block_type.nbytes)
            where = row * a.block_type.shape[0], frame * a.block_type.shape[1], col * b.block_type.shape[1]
            tma.async_copy_global_to_shared(a, [where[0], where[1]], full.index(stage), a_smem.index(stage))
            tma.async_copy_global_to_shared(b, [where[1], where[2]], full.index(stage), b_smem.index(stage))
            turn += 1


@gluon.jit
def consume(c, a_smem, b_smem, c_smem, full, free, high, wide, frames):
    STAGES: gl.constexpr = a_smem.shape[0]
    ROWS: gl.constexpr = c.block_type.shape[0]
    COLS: gl.constexpr = c.block_type.shape[1]
    SUMS: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [8, 1], [16, COLS, 16])
    turn = 0
    for tile in range(gl.program_id(0), high * wide, gl.num_programs(0)):
        sums = gl.zeros((ROWS, COLS), gl.float32, SUMS)
        for frame in range(frames):
            stage = turn % STAGES
            mbarrier.wait(full.index(stage), turn // STAGES % 2)
            sums = warpgroup_mma(a_smem.index(stage), b_smem.index(stage), sums, is_async=True)
            sums = warpgroup_mma_wait(1, deps=(sums,))
            mbarrier.arrive(free.index((turn + STAGES - 1) % STAGES), count=1, pred=frame > 0)
            turn += 1
        sums = warpgroup_mma_wait(0, deps=(sums,))
        mbarrier.arrive(free.index((turn + STAGES - 1) % STAGES), count=1)
        tma.store_wait(0)
        c_smem.store(sums.to(c.dtype))
        fence_async_shared()
        row, col = place(tile, high, wide)
        tma.async_copy_shared_to_global(c, [row * ROWS, col * COLS], c_smem)
    tma.store_wait(0)


@gluon.jit
def kernel(a, b, c, high, wide, frames, STAGES: gl.constexpr):
    ROWS: gl.constexpr = a.block_type.shape[0]
    INNER: gl.constexpr = a.block_type.shape[1]
    COLS: gl.constexpr = b.block_type.shape[1]
    a_smem = gl.allocate_shared_memory(a.dtype, [STAGES, ROWS, INNER], a.layout)
    b_smem = gl.allocate_shared_memory(b.dtype, [STAGES, INNER, COLS], b.layout)
    c_smem = gl.allocate_shared_memory(c.dtype, c.block_type.shape, c.layout)
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    free = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for stage in gl.static_range(STAGES):
        mbarrier.init(full.index(stage), count=1)
        mbarrier.init(free.index(stage), count=1)
    fence_async_shared()
    gl.warp_specialize(
        [
            (consume, (c, a_smem, b_smem, c_smem, full, free, high, wide, frames)),
            (produce, (a, b, a_smem, b_smem, full, free, high, wide, frames)),
        ],
        [1],
        [24],
    )


def matmul(a, b):
    c = torch.empty(a.shape[0], b.shape[1], dtype=a.dtype, device=a.device)
    layout = gl.NVMMASharedLayout(128, 16, 2)
    blocks = (a, [ROWS, INNER]), (b, [INNER, COLS]), (c, [ROWS, COLS])
    descs = [TensorDescriptor.from_tensor(x, block, layout) for x, block in blocks]
    high, wide = triton.cdiv(a.shape[0], ROWS), triton.cdiv(b.shape[1], COLS)
    programs = min(high * wide, torch.cuda.get_device_properties(a.device).multi_processor_count)
    kernel[(programs,)](*descs, high, wide, triton.cdiv(a.shape[1], INNER), STAGES, num_warps=8)
    return c
