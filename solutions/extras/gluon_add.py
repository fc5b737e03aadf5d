"""Extra: a + b by programs that stay: TMA fills a ring of stages, mbarriers tell when, TMA stores sums."""

from __future__ import annotations

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

# A tile of 64 × 64 is 8 KB in fp16. Four stages of two tiles are 64 KB on their way to each SM: at 4.2 TB/s
# an SM gets 32 KB in a microsecond, about as long as a load takes. With the tile of sums it is 72 KB of
# shared memory, in fp32 144 KB.
BLOCK_M, BLOCK_N, STAGES = 64, 64, 4


@gluon.jit
def corner(desc, tile, tiles_n):
    """The first row and the first column of a tile; tiles are counted along rows."""
    return tile // tiles_n * desc.block_type.shape[0], tile % tiles_n * desc.block_type.shape[1]


@gluon.jit
def fetch(a_desc, b_desc, a_smem, b_smem, full, stage, tile, tiles, tiles_n):
    """Ask TMA for a tile of a and of b, of which full[stage] is told; past the last one ask for nothing."""
    row, col = corner(a_desc, tile, tiles_n)
    there = tile < tiles
    # TMA counts whole tiles, what it fills with 0 past the edge of a or b included.
    mbarrier.expect(full.index(stage), 2 * a_desc.block_type.nbytes, pred=there)
    tma.async_copy_global_to_shared(a_desc, [row, col], full.index(stage), a_smem.index(stage), pred=there)
    tma.async_copy_global_to_shared(b_desc, [row, col], full.index(stage), b_smem.index(stage), pred=there)


@gluon.jit
def add_kernel(a_desc, b_desc, y_desc, tiles, tiles_n, STAGES: gl.constexpr, LAYOUT: gl.constexpr):
    """y = a + b; of P programs, program p takes the tiles p, p + P, p + 2P, …"""
    BLOCK_M: gl.constexpr = a_desc.block_type.shape[0]
    BLOCK_N: gl.constexpr = a_desc.block_type.shape[1]
    a_smem = gl.allocate_shared_memory(a_desc.dtype, [STAGES, BLOCK_M, BLOCK_N], a_desc.layout)
    b_smem = gl.allocate_shared_memory(b_desc.dtype, [STAGES, BLOCK_M, BLOCK_N], b_desc.layout)
    y_smem = gl.allocate_shared_memory(y_desc.dtype, [BLOCK_M, BLOCK_N], y_desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(STAGES):
        mbarrier.init(full.index(i), count=1)  # one arrival a round: that of `expect`
    fence_async_shared()  # TMA is to see the barriers as they are now
    pid, programs = gl.program_id(0), gl.num_programs(0)
    for i in gl.static_range(STAGES):
        fetch(a_desc, b_desc, a_smem, b_smem, full, i, pid + i * programs, tiles, tiles_n)
    for turn in range(gl.cdiv(tiles - pid, programs)):
        tile, stage = pid + turn * programs, turn % STAGES
        mbarrier.wait(full.index(stage), turn // STAGES & 1)
        y = a_smem.index(stage).load(LAYOUT) + b_smem.index(stage).load(LAYOUT)
        tma.store_wait(0)  # y_smem still holds the sums of the tile before, until TMA has read them
        y_smem.store(y)
        fence_async_shared()
        row, col = corner(y_desc, tile, tiles_n)
        tma.async_copy_shared_to_global(y_desc, [row, col], y_smem)
        fetch(a_desc, b_desc, a_smem, b_smem, full, stage, tile + STAGES * programs, tiles, tiles_n)
    tma.store_wait(0)  # shared memory ends with the program, and TMA may still be reading it
    for i in gl.static_range(STAGES):
        mbarrier.invalidate(full.index(i))


def add(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a + b as a new, contiguous [m, n]; a[m, n] and b[m, n] are fp16, bf16 or fp32.

    TMA asks for a base that 16 bytes divide, rows a multiple of 16 bytes apart, each of them in one piece.
    """
    m, n = a.shape
    y = torch.empty(m, n, dtype=a.dtype, device=a.device)
    size = a.element_size()
    shared = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=8 * size, rank=2)
    descs = [TensorDescriptor.from_tensor(t, [BLOCK_M, BLOCK_N], shared) for t in (a, b, y)]
    lanes = BLOCK_N * size // 16  # that make up a row of the tile, 16 bytes each
    layout = gl.BlockedLayout([1, 16 // size], [32 // lanes, lanes], [4, 1], [1, 0])
    tiles_n = triton.cdiv(n, BLOCK_N)
    tiles = triton.cdiv(m, BLOCK_M) * tiles_n
    sms = torch.cuda.get_device_properties(a.device).multi_processor_count
    add_kernel[(min(tiles, sms),)](*descs, tiles, tiles_n, STAGES, layout, num_warps=4)
    return y
