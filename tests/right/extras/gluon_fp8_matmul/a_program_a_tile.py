"""A program a tile: three warp groups multiply, one warp loads, and c is stored from registers."""

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
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor


@gluon.jit
def fetch(a_desc, b_desc, rings, row, col, steps):
    a_smem, b_smem, ready, free = rings
    SLOTS: gl.constexpr = b_smem.shape[0]
    for step in range(steps):
        slot = step % SLOTS
        mbarrier.wait(free.index(slot), (step // SLOTS & 1) ^ 1)
        mbarrier.expect(ready.index(slot), 3 * a_desc.block_type.nbytes + b_desc.block_type.nbytes)
        at = step * 128
        for third in gl.static_range(3):
            tma.async_copy_global_to_shared(
                a_desc, [row + third * 64, at], ready.index(slot), a_smem.index(third * SLOTS + slot)
            )
        tma.async_copy_global_to_shared(b_desc, [col, at], ready.index(slot), b_smem.index(slot))


@gluon.jit
def compute(third, rings, out, row, col, steps):
    a_smem, b_smem, ready, free = rings
    c_ptr, a_scale_ptr, b_scale_ptr, m, n = out
    SLOTS: gl.constexpr = b_smem.shape[0]
    SUMS: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 32])
    total = gl.zeros((64, 128), gl.float32, SUMS)
    for step in range(steps):
        slot = step % SLOTS
        mbarrier.wait(ready.index(slot), step // SLOTS & 1)
        a, b = a_smem.index(third * SLOTS + slot), b_smem.index(slot).permute((1, 0))
        # Not asynchronous: this group waits, and the others need no word for it.
        block = warpgroup_mma(a, b, gl.zeros((64, 128), gl.float32, SUMS))
        total = total + block
        mbarrier.arrive(free.index(slot), count=1)
    rows = row + third * 64 + gl.arange(0, 64, layout=gl.SliceLayout(1, SUMS))
    cols = col + gl.arange(0, 128, layout=gl.SliceLayout(0, SUMS))
    total = total * gl.load(a_scale_ptr + rows, mask=rows < m, other=0.0)[:, None]
    total = total * gl.load(b_scale_ptr + cols, mask=cols < n, other=0.0)[None, :]
    c_ptrs = c_ptr + rows.to(gl.int64)[:, None] * n + cols[None, :]
    gl.store(c_ptrs, total.to(gl.bfloat16), mask=(rows < m)[:, None] & (cols < n)[None, :])


@gluon.jit
def tile_kernel(a_desc, b_desc, c_ptr, a_scale_ptr, b_scale_ptr, m, n, k, SLOTS: gl.constexpr):
    a_smem = gl.allocate_shared_memory(a_desc.dtype, [3 * SLOTS, 64, 128], a_desc.layout)
    b_smem = gl.allocate_shared_memory(b_desc.dtype, [SLOTS, 128, 128], b_desc.layout)
    ready = gl.allocate_shared_memory(gl.int64, [SLOTS, 1], mbarrier.MBarrierLayout())
    free = gl.allocate_shared_memory(gl.int64, [SLOTS, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(SLOTS):
        mbarrier.init(ready.index(i), count=1)
        mbarrier.init(free.index(i), count=3)
    fence_async_shared()
    down, across = gl.cdiv(m, 192), gl.cdiv(n, 128)
    pid = gl.program_id(0)
    above = pid // (12 * across) * 12
    height = gl.minimum(down - above, 12)
    row = (above + pid % (12 * across) % height) * 192
    col = pid % (12 * across) // height * 128
    steps = gl.cdiv(k, 128)
    rings = (a_smem, b_smem, ready, free)
    out = (c_ptr, a_scale_ptr, b_scale_ptr, m, n)
    gl.warp_specialize([
        (compute, (0, rings, out, row, col, steps)),
        (compute, (1, rings, out, row, col, steps)),
        (compute, (2, rings, out, row, col, steps)),
        (fetch, (a_desc, b_desc, rings, row, col, steps)),
    ], [4, 4, 1], [160, 160, 24])  # fmt: skip


def fp8_matmul(
    a: torch.Tensor, b: torch.Tensor, a_scale: torch.Tensor, b_scale: torch.Tensor
) -> torch.Tensor:
    (m, k), n = a.shape, b.shape[0]
    c = torch.empty((m, n), dtype=torch.bfloat16, device=a.device)
    descriptors = [
        TensorDescriptor.from_tensor(x, block, gl.NVMMASharedLayout.get_default_for(block, gl.float8e4nv))
        for x, block in ((a, [64, 128]), (b, [128, 128]))
    ]
    grid = (triton.cdiv(m, 192) * triton.cdiv(n, 128),)
    tile_kernel[grid](*descriptors, c, a_scale, b_scale, m, n, k, 5, num_warps=4)
    return c
