"""Extra: a @ b by wgmma, which reads both operands from shared memory, while TMA brings the next frames."""

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

# A frame is 128 × 64 of a and 64 × 256 of b, 48 KB; four of them fill 192 of an SM's 227 KB. It is worth
# 128 · 256 · 64 multiply-adds: 85 operations for each byte that comes from L2.
BLOCK_M, BLOCK_N, BLOCK_K, STAGES = 128, 256, 64, 4


@gluon.jit
def grouped_tile(pid, num_pid_m, num_pid_n, GROUP_M: gl.constexpr):
    """Return the tile (pid_m, pid_n) of program pid: GROUP_M rows of tiles at a time, column by column."""
    pids_in_group = GROUP_M * num_pid_n
    first_pid_m = pid // pids_in_group * GROUP_M
    rows = gl.minimum(num_pid_m - first_pid_m, GROUP_M)
    pid_in_group = pid % pids_in_group
    return first_pid_m + pid_in_group % rows, pid_in_group // rows


@gluon.jit
def fetch(a_desc, b_desc, a_smem, b_smem, full, step, m, n, steps, STAGES: gl.constexpr):
    """Ask TMA for frame `step`: rows m … of a, columns n … of b. Past the last one ask for nothing."""
    stage, k = step % STAGES, step * a_desc.block_type.shape[1]
    bar, there = full.index(stage), step < steps
    mbarrier.expect(bar, a_desc.block_type.nbytes + b_desc.block_type.nbytes, pred=there)
    tma.async_copy_global_to_shared(a_desc, [m, k], bar, a_smem.index(stage), pred=there)
    tma.async_copy_global_to_shared(b_desc, [k, n], bar, b_smem.index(stage), pred=there)


@gluon.jit
def matmul_kernel(
    a_desc, b_desc, c_desc, num_pid_m, num_pid_n, steps, STAGES: gl.constexpr, GROUP_M: gl.constexpr
):
    """c = a @ b, one tile of c a program, in `steps` frames along k."""
    BLOCK_M: gl.constexpr = c_desc.block_type.shape[0]
    BLOCK_N: gl.constexpr = c_desc.block_type.shape[1]
    BLOCK_K: gl.constexpr = a_desc.block_type.shape[1]
    a_smem = gl.allocate_shared_memory(a_desc.dtype, [STAGES, BLOCK_M, BLOCK_K], a_desc.layout)
    b_smem = gl.allocate_shared_memory(b_desc.dtype, [STAGES, BLOCK_K, BLOCK_N], b_desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(STAGES):
        mbarrier.init(full.index(i), count=1)
    fence_async_shared()
    pid_m, pid_n = grouped_tile(gl.program_id(0), num_pid_m, num_pid_n, GROUP_M)
    m, n = pid_m * BLOCK_M, pid_n * BLOCK_N
    for i in gl.static_range(STAGES - 1):
        fetch(a_desc, b_desc, a_smem, b_smem, full, i, m, n, steps, STAGES)
    # TODO 1: acc, BLOCK_M x BLOCK_N sums in fp32, in the layout in which wgmma leaves them.
    for step in range(steps):
        stage = step % STAGES
        # TODO 2: wait for the frame of this stage, and start its product.
        # TODO 3: go on once the product before it is done. Which stage is free then, and for which frame?
    # TODO 4: wait for the last product.
    for i in gl.static_range(STAGES):
        mbarrier.invalidate(full.index(i))
    # TODO 5: round the tile to c's dtype, and let TMA store it. Where do its 64 KB find room?


def described(x: torch.Tensor, block: list[int]) -> TensorDescriptor:
    """x for TMA, in blocks of this size; in shared memory 128 bytes of a row lie as wgmma reads them."""
    shared = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
    return TensorDescriptor.from_tensor(x, block, shared)


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b as a new, contiguous [m, n]; a[m, k] and b[k, n] are both fp16, or both bf16.

    TMA asks for a base that 16 bytes divide, rows a multiple of 16 bytes apart, each of them in one piece.
    """
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    num_pid_m, num_pid_n = triton.cdiv(m, BLOCK_M), triton.cdiv(n, BLOCK_N)
    # TODO 6: launch a program of two warp groups for each tile of c, with GROUP_M = 8.
    return c
