"""Extra: an FP8 product by specialised warps: some add their sums in fp32 while others' products run."""

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

# A stage holds 24 KB of a and 16 KB of b. Four stages and a tile of c, 48 KB, are 208 KB of an SM's 227.
GROUPS, ROWS = 3, 64  # warp groups that multiply, and the rows of each: a tile has 192
BLOCK_N, BLOCK_K = 128, 128
STAGES = 4
GROUP_M = 8
# A thread of those that multiply holds 64 sums in fp32, and 64 of the step under way.
MULTIPLIES, LOADS = 160, 24  # registers
DTYPES = {torch.float8_e4m3fn: gl.float8e4nv, torch.bfloat16: gl.bfloat16}


@gluon.jit
def grouped_tile(pid, num_pid_m, num_pid_n, GROUP_M: gl.constexpr):
    """Day 18's order: GROUP_M rows of tiles at a time, column by column."""
    pids_in_group = GROUP_M * num_pid_n
    first_pid_m = pid // pids_in_group * GROUP_M
    rows = min(num_pid_m - first_pid_m, GROUP_M)
    pid_in_group = pid % pids_in_group
    return first_pid_m + pid_in_group % rows, pid_in_group // rows


@gluon.jit
def load_tiles(a_desc, b_desc, stages, tiles, GROUP_M: gl.constexpr):
    """One warp: copy 64 rows of a for each warp group, and 128 of b for all, as stages become empty."""
    a_smem, b_smem, full, empty = stages
    num_pid_m, num_pid_n, steps = tiles
    ROWS: gl.constexpr = a_smem.shape[1]
    BLOCK_N: gl.constexpr = b_smem.shape[1]
    BLOCK_K: gl.constexpr = b_smem.shape[2]
    STAGES: gl.constexpr = full.shape[0]
    GROUPS: gl.constexpr = a_smem.shape[0] // STAGES
    turn = 0
    for pid in range(gl.program_id(0), num_pid_m * num_pid_n, gl.num_programs(0)):
        pid_m, pid_n = grouped_tile(pid, num_pid_m, num_pid_n, GROUP_M)
        for step in range(steps):
            stage = turn % STAGES
            mbarrier.wait(empty.index(stage), (turn // STAGES & 1) ^ 1)
            mbarrier.expect(full.index(stage), GROUPS * a_desc.block_type.nbytes + b_desc.block_type.nbytes)
            k = step * BLOCK_K
            for group in gl.static_range(GROUPS):
                row = (pid_m * GROUPS + group) * ROWS
                a = a_smem.index(stage * GROUPS + group)
                tma.async_copy_global_to_shared(a_desc, [row, k], full.index(stage), a)
            tma.async_copy_global_to_shared(
                b_desc, [pid_n * BLOCK_N, k], full.index(stage), b_smem.index(stage)
            )
            turn += 1


@gluon.jit
def multiply_tiles(group, c_desc, c_smem, stages, scales, tiles, GROUP_M: gl.constexpr):
    """Four warps: 64 rows of every tile of this program. Their sums run through 128 of k, and no more."""
    GROUPS: gl.constexpr = c_smem.shape[0]
    ROWS: gl.constexpr = c_smem.shape[1]
    BLOCK_N: gl.constexpr = c_smem.shape[2]
    turn = 0
    # TODO 1: the layout of the sums. One instruction multiplies 32 bytes along k of both: how many codes?
    # TODO 2: go through tiles and steps as load_tiles does. Each step starts a product with sums of its own.
    # TODO 3: wait for it, hand the stage back, and only then add to the tile's sums in fp32.
    # TODO 4: behind the last step multiply by both scales, round to bf16, and let TMA store it from c_smem.
    tma.store_wait(0)


@gluon.jit
def fp8_matmul_kernel(
    a_desc,
    b_desc,
    c_desc,
    a_scale_ptr,
    b_scale_ptr,
    m,
    n,
    num_pid_m,
    num_pid_n,
    steps,
    GROUPS: gl.constexpr,
    STAGES: gl.constexpr,
    GROUP_M: gl.constexpr,
    MULTIPLIES: gl.constexpr,
    LOADS: gl.constexpr,
):
    """c = (a @ bᵀ) * a_scale * b_scale. A program takes every so-many-th tile of 192 × 128."""
    ROWS: gl.constexpr = a_desc.block_type.shape[0]
    BLOCK_K: gl.constexpr = a_desc.block_type.shape[1]
    BLOCK_N: gl.constexpr = b_desc.block_type.shape[0]
    a_smem = gl.allocate_shared_memory(a_desc.dtype, [STAGES * GROUPS, ROWS, BLOCK_K], a_desc.layout)
    b_smem = gl.allocate_shared_memory(b_desc.dtype, [STAGES, BLOCK_N, BLOCK_K], b_desc.layout)
    c_smem = gl.allocate_shared_memory(c_desc.dtype, [GROUPS, ROWS, BLOCK_N], c_desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(STAGES):
        mbarrier.init(full.index(i), count=1)
        # TODO 5: how many hand a stage back?
    fence_async_shared()
    stages = (a_smem, b_smem, full, empty)
    scales = (a_scale_ptr, b_scale_ptr, m, n)
    tiles = (num_pid_m, num_pid_n, steps)
    # TODO 6: let three times four warps multiply, and one load.


def described(x: torch.Tensor, block: list[int]) -> TensorDescriptor:
    """x in blocks of this shape, as TMA copies them; in shared memory swizzled as the matrix units read."""
    layout = gl.NVMMASharedLayout.get_default_for(block, DTYPES[x.dtype])
    return TensorDescriptor.from_tensor(x, block, layout)


def fp8_matmul(
    a: torch.Tensor, b: torch.Tensor, a_scale: torch.Tensor, b_scale: torch.Tensor
) -> torch.Tensor:
    """Return (a @ b.T) * a_scale * b_scale as a new, contiguous bf16 [m, n]; a[m, k] and b[n, k] of e4m3."""
    (m, k), n = a.shape, b.shape[0]
    c = torch.empty(m, n, dtype=torch.bfloat16, device=a.device)
    num_pid_m, num_pid_n = triton.cdiv(m, GROUPS * ROWS), triton.cdiv(n, BLOCK_N)
    sms = torch.cuda.get_device_properties(a.device).multi_processor_count if a.is_cuda else 132
    fp8_matmul_kernel[(min(num_pid_m * num_pid_n, sms),)](
        described(a, [ROWS, BLOCK_K]),
        described(b, [BLOCK_N, BLOCK_K]),
        described(c, [ROWS, BLOCK_N]),
        a_scale,
        b_scale,
        m,
        n,
        num_pid_m,
        num_pid_n,
        triton.cdiv(k, BLOCK_K),
        GROUPS,
        STAGES,
        GROUP_M,
        MULTIPLIES,
        LOADS,
        num_warps=4,
    )
    return c
