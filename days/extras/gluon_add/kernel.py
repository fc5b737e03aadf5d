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
    # TODO 1: tell the stage's barrier how many bytes it is to wait for, and ask for both tiles.


@gluon.jit
def add_kernel(a_desc, b_desc, y_desc, tiles, tiles_n, STAGES: gl.constexpr, LAYOUT: gl.constexpr):
    """y = a + b; of P programs, program p takes the tiles p, p + P, p + 2P, …"""
    BLOCK_M: gl.constexpr = a_desc.block_type.shape[0]
    BLOCK_N: gl.constexpr = a_desc.block_type.shape[1]
    a_smem = gl.allocate_shared_memory(a_desc.dtype, [STAGES, BLOCK_M, BLOCK_N], a_desc.layout)
    b_smem = gl.allocate_shared_memory(b_desc.dtype, [STAGES, BLOCK_M, BLOCK_N], b_desc.layout)
    y_smem = gl.allocate_shared_memory(y_desc.dtype, [BLOCK_M, BLOCK_N], y_desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    # TODO 2: make each stage's barrier ready for one arrival a round, before TMA may tell it anything.
    pid, programs = gl.program_id(0), gl.num_programs(0)
    # TODO 3: ask for the first tile of every stage.
    for turn in range(gl.cdiv(tiles - pid, programs)):
        tile, stage = pid + turn * programs, turn % STAGES
        # TODO 4: wait for this stage, and add its two tiles. Which phase is it? 0 in the ring's first round.
        # TODO 5: let TMA store the sums. What must precede the write to y_smem, and what TMA's read of it?
        # TODO 6: this stage is free: ask for the tile that it holds a whole round later.
    # TODO 7: shared memory ends with the program. What must it wait for? Then let go of the barriers.


def add(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a + b as a new, contiguous [m, n]; a[m, n] and b[m, n] are fp16, bf16 or fp32.

    TMA asks for a base that 16 bytes divide, rows a multiple of 16 bytes apart, each of them in one piece.
    """
    m, n = a.shape
    y = torch.empty(m, n, dtype=a.dtype, device=a.device)
    size = a.element_size()
    shared = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=8 * size, rank=2)
    lanes = BLOCK_N * size // 16  # that make up a row of the tile, 16 bytes each
    layout = gl.BlockedLayout([1, 16 // size], [32 // lanes, lanes], [4, 1], [1, 0])
    # TODO 8: describe a, b and y to TMA, and launch a program for each SM, but no more than there are tiles.
    return y
