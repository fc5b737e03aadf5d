"""Extra: a product by programs that stay: one warp loads, eight multiply, barriers pass stages on."""

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

# A stage holds 16 KB of a and 32 KB of b. Three stages and a tile of c, 64 KB, are 208 KB of an SM's 227.
BLOCK_M, BLOCK_N, BLOCK_K = 128, 256, 64
STAGES = 3
GROUP_M = 8
WARPS = 8  # that multiply: two warp groups, of 64 rows of the tile each
LOADER_REGISTERS = 24  # a thread: whoever only starts copies needs few, and leaves the rest to the others
DTYPES = {torch.float16: gl.float16, torch.bfloat16: gl.bfloat16}


@gluon.jit
def grouped_tile(pid, num_pid_m, num_pid_n, GROUP_M: gl.constexpr):
    """Day 18's order: GROUP_M rows of tiles at a time, column by column."""
    pids_in_group = GROUP_M * num_pid_n
    first_pid_m = pid // pids_in_group * GROUP_M
    rows = min(num_pid_m - first_pid_m, GROUP_M)
    pid_in_group = pid % pids_in_group
    return first_pid_m + pid_in_group % rows, pid_in_group // rows


@gluon.jit
def load_tiles(
    a_desc, b_desc, a_smem, b_smem, full, empty, num_pid_m, num_pid_n, steps, GROUP_M: gl.constexpr
):
    """One warp: copy what each tile of this program needs into the stages, in turn, as they become empty."""
    BLOCK_M: gl.constexpr = a_smem.shape[1]
    BLOCK_K: gl.constexpr = a_smem.shape[2]
    BLOCK_N: gl.constexpr = b_smem.shape[2]
    STAGES: gl.constexpr = full.shape[0]
    turn = 0  # counts on from tile to tile: while one is stored, the first steps of the next are under way
    # TODO 1: go through this program's tiles and their steps. Each turn needs a stage that is empty.
    # TODO 2: copy the step's blocks of a and of b into it; full is to count their bytes.


@gluon.jit
def multiply_tiles(
    c_desc, a_smem, b_smem, c_smem, full, empty, num_pid_m, num_pid_n, steps, GROUP_M: gl.constexpr
):
    """Eight warps: multiply what lies in the stages, hand them back, and store each tile of c."""
    BLOCK_M: gl.constexpr = c_smem.shape[0]
    BLOCK_N: gl.constexpr = c_smem.shape[1]
    STAGES: gl.constexpr = full.shape[0]
    ACC: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, BLOCK_N, 16])
    turn = 0
    # TODO 3: go through the same tiles and steps. Once a turn's stage is full, start its product.
    # TODO 4: wait for the product before it, and hand back the stage that has been read. Is there always one?
    # TODO 5: behind a tile's last step wait for the last product, and hand back its stage.
    # TODO 6: let TMA store the tile from c_smem, once it has read the tile before from there.
    tma.store_wait(0)


@gluon.jit
def matmul_kernel(
    a_desc,
    b_desc,
    c_desc,
    num_pid_m,
    num_pid_n,
    steps,
    STAGES: gl.constexpr,
    GROUP_M: gl.constexpr,
    LOADER_REGISTERS: gl.constexpr,
):
    """c = a @ b. A program takes every so-many-th tile; its warps go through the same tiles, side by side."""
    BLOCK_M: gl.constexpr = a_desc.block_type.shape[0]
    BLOCK_K: gl.constexpr = a_desc.block_type.shape[1]
    BLOCK_N: gl.constexpr = b_desc.block_type.shape[1]
    a_smem = gl.allocate_shared_memory(a_desc.dtype, [STAGES, BLOCK_M, BLOCK_K], a_desc.layout)
    b_smem = gl.allocate_shared_memory(b_desc.dtype, [STAGES, BLOCK_K, BLOCK_N], b_desc.layout)
    c_smem = gl.allocate_shared_memory(c_desc.dtype, [BLOCK_M, BLOCK_N], c_desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    # TODO 7: barriers that say that a stage is empty. Make both kinds ready: how many arrive at each?
    # TODO 8: let the eight warps multiply, and one more warp load.


def described(x: torch.Tensor, block: list[int]) -> TensorDescriptor:
    """x in blocks of this shape, as TMA copies them; in shared memory swizzled as the matrix units read."""
    layout = gl.NVMMASharedLayout.get_default_for(block, DTYPES[x.dtype])
    return TensorDescriptor.from_tensor(x, block, layout)


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b as a new, contiguous [m, n]; a[m, k] and b[k, n] are both fp16 or both bf16."""
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    num_pid_m, num_pid_n = triton.cdiv(m, BLOCK_M), triton.cdiv(n, BLOCK_N)
    # TODO 9: launch as many programs as there are SMs, and no more than there are tiles.
    return c
