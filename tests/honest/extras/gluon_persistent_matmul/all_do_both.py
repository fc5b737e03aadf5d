"""No warp has work of its own: a program a tile, whose loads run three steps ahead of its products."""

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


@gluon.jit
def start(a_desc, b_desc, a_smem, b_smem, bars, step, row, col, steps):
    BLOCK_K: gl.constexpr = a_smem.shape[2]
    buffer = step % a_smem.shape[0]
    some = step < steps
    mbarrier.expect(bars.index(buffer), a_desc.block_type.nbytes + b_desc.block_type.nbytes, pred=some)
    tma.async_copy_global_to_shared(
        a_desc, [row, step * BLOCK_K], bars.index(buffer), a_smem.index(buffer), pred=some
    )
    tma.async_copy_global_to_shared(
        b_desc, [step * BLOCK_K, col], bars.index(buffer), b_smem.index(buffer), pred=some
    )


@gluon.jit
def tile_kernel(a_desc, b_desc, c_desc, rows, cols, steps, AHEAD: gl.constexpr):
    BLOCK_M: gl.constexpr = a_desc.block_type.shape[0]
    BLOCK_K: gl.constexpr = a_desc.block_type.shape[1]
    BLOCK_N: gl.constexpr = b_desc.block_type.shape[1]
    BUFFERS: gl.constexpr = AHEAD + 1
    a_smem = gl.allocate_shared_memory(a_desc.dtype, [BUFFERS, BLOCK_M, BLOCK_K], a_desc.layout)
    b_smem = gl.allocate_shared_memory(b_desc.dtype, [BUFFERS, BLOCK_K, BLOCK_N], b_desc.layout)
    bars = gl.allocate_shared_memory(gl.int64, [BUFFERS, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(BUFFERS):
        mbarrier.init(bars.index(i), count=1)
    fence_async_shared()
    pid = gl.program_id(0)
    above = pid // (8 * cols) * 8
    height = gl.minimum(rows - above, 8)
    row = (above + pid % (8 * cols) % height) * BLOCK_M
    col = pid % (8 * cols) // height * BLOCK_N
    for i in gl.static_range(AHEAD):
        start(a_desc, b_desc, a_smem, b_smem, bars, i, row, col, steps)
    LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [8, 1], [16, BLOCK_N, 16])
    c = gl.zeros((BLOCK_M, BLOCK_N), gl.float32, LAYOUT)
    for step in range(steps):
        buffer = step % BUFFERS
        mbarrier.wait(bars.index(buffer), step // BUFFERS & 1)
        c = warpgroup_mma(a_smem.index(buffer), b_smem.index(buffer), c, is_async=True)
        c = warpgroup_mma_wait(1, deps=(c,))
        start(a_desc, b_desc, a_smem, b_smem, bars, step + AHEAD, row, col, steps)
    c = warpgroup_mma_wait(0, deps=(c,))
    for i in gl.static_range(BUFFERS):
        mbarrier.invalidate(bars.index(i))
    c_smem = gl.allocate_shared_memory(c_desc.dtype, [BLOCK_M, BLOCK_N], c_desc.layout)
    c_smem.store(c.to(c_desc.dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(c_desc, [row, col], c_smem)
    tma.store_wait(0)


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    m, n, k = len(a), b.shape[1], len(b)
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    kind = {torch.float16: gl.float16, torch.bfloat16: gl.bfloat16}[a.dtype]
    descs = [
        TensorDescriptor.from_tensor(x, block, gl.NVMMASharedLayout.get_default_for(block, kind))
        for x, block in ((a, [128, 64]), (b, [64, 256]), (c, [128, 256]))
    ]
    rows, cols = triton.cdiv(m, 128), triton.cdiv(n, 256)
    tile_kernel[(rows * cols,)](*descs, rows, cols, triton.cdiv(k, 64), 3, num_warps=8)
    return c
