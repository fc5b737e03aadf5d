"""Tuned: the same programs with a fourth stage, since a tile of c leaves the chip in two halves.

A whole tile of c takes 64 KB of shared memory, and that is more than a stage. In halves of 32 KB four
stages fit, and the matrix units wait less often. Groups of 16 rows of tiles make what 132 programs read at
a time nearly square: 16 tiles of 128 rows beside 8 of 256 columns, the least that L2 has to hold.
"""

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

# A stage holds 16 KB of a and 32 KB of b. Four stages and half a tile of c, 32 KB, are 224 KB of an SM's 227.
BLOCK_M, BLOCK_N, BLOCK_K = 128, 256, 64
STAGES = 4
GROUP_M = 16
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
    for pid in range(gl.program_id(0), num_pid_m * num_pid_n, gl.num_programs(0)):
        pid_m, pid_n = grouped_tile(pid, num_pid_m, num_pid_n, GROUP_M)
        for step in range(steps):
            stage = turn % STAGES
            # In the first round nobody hands a stage back: parity 1 lets that wait through.
            mbarrier.wait(empty.index(stage), (turn // STAGES & 1) ^ 1)
            mbarrier.expect(full.index(stage), a_desc.block_type.nbytes + b_desc.block_type.nbytes)
            k = step * BLOCK_K
            tma.async_copy_global_to_shared(
                a_desc, [pid_m * BLOCK_M, k], full.index(stage), a_smem.index(stage)
            )
            tma.async_copy_global_to_shared(
                b_desc, [k, pid_n * BLOCK_N], full.index(stage), b_smem.index(stage)
            )
            turn += 1


@gluon.jit
def multiply_tiles(
    c_desc, a_smem, b_smem, c_smem, full, empty, num_pid_m, num_pid_n, steps, GROUP_M: gl.constexpr
):
    """Eight warps: multiply what lies in the stages, hand them back, and store each tile of c."""
    BLOCK_M: gl.constexpr = c_smem.shape[0]
    BLOCK_N: gl.constexpr = 2 * c_smem.shape[1]
    STAGES: gl.constexpr = full.shape[0]
    ACC: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, BLOCK_N, 16])
    turn = 0
    for pid in range(gl.program_id(0), num_pid_m * num_pid_n, gl.num_programs(0)):
        pid_m, pid_n = grouped_tile(pid, num_pid_m, num_pid_n, GROUP_M)
        acc = gl.zeros((BLOCK_M, BLOCK_N), gl.float32, ACC)
        for step in range(steps):
            stage = turn % STAGES
            mbarrier.wait(full.index(stage), turn // STAGES & 1)
            acc = warpgroup_mma(a_smem.index(stage), b_smem.index(stage), acc, is_async=True)
            # This product may still run; the one before it has read its stage to the end.
            acc = warpgroup_mma_wait(1, deps=(acc,))
            mbarrier.arrive(empty.index((turn + STAGES - 1) % STAGES), count=1, pred=step > 0)
            turn += 1
        acc = warpgroup_mma_wait(0, deps=(acc,))
        mbarrier.arrive(empty.index((turn + STAGES - 1) % STAGES), count=1)
        halves = acc.to(c_desc.dtype).reshape((BLOCK_M, 2, BLOCK_N // 2)).permute((0, 2, 1)).split()
        for half in gl.static_range(2):
            tma.store_wait(0)
            c_smem.store(halves[half])
            fence_async_shared()
            col = pid_n * BLOCK_N + half * (BLOCK_N // 2)
            tma.async_copy_shared_to_global(c_desc, [pid_m * BLOCK_M, col], c_smem)
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
    c_smem = gl.allocate_shared_memory(c_desc.dtype, [BLOCK_M, BLOCK_N // 2], c_desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(STAGES):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (multiply_tiles, (c_desc, a_smem, b_smem, c_smem, full, empty, num_pid_m, num_pid_n, steps, GROUP_M)),
        (load_tiles, (a_desc, b_desc, a_smem, b_smem, full, empty, num_pid_m, num_pid_n, steps, GROUP_M)),
    ], [1], [LOADER_REGISTERS])  # fmt: skip


def described(x: torch.Tensor, block: list[int]) -> TensorDescriptor:
    """x in blocks of this shape, as TMA copies them; in shared memory swizzled as the matrix units read."""
    layout = gl.NVMMASharedLayout.get_default_for(block, DTYPES[x.dtype])
    return TensorDescriptor.from_tensor(x, block, layout)


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b as a new, contiguous [m, n]; a[m, k] and b[k, n] are both fp16 or both bf16."""
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    num_pid_m, num_pid_n = triton.cdiv(m, BLOCK_M), triton.cdiv(n, BLOCK_N)
    # More programs than SMs could not run: each takes nearly all of an SM's shared memory.
    sms = torch.cuda.get_device_properties(a.device).multi_processor_count if a.is_cuda else 132
    matmul_kernel[(min(num_pid_m * num_pid_n, sms),)](
        described(a, [BLOCK_M, BLOCK_K]),
        described(b, [BLOCK_K, BLOCK_N]),
        described(c, [BLOCK_M, BLOCK_N // 2]),
        num_pid_m,
        num_pid_n,
        triton.cdiv(k, BLOCK_K),
        STAGES,
        GROUP_M,
        LOADER_REGISTERS,
        num_warps=WARPS,
    )
    return c
