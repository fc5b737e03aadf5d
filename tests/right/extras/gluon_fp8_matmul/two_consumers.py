"""Two warp groups share 256 rows of b, and go through them in two halves: one short sum at a time."""

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

HEIGHT, WIDTH, DEPTH, RING, BAND = 64, 256, 128, 4, 16


@gluon.jit
def where(tile, down, across, BAND: gl.constexpr):
    top = tile // (BAND * across) * BAND
    high = gl.minimum(down - top, BAND)
    return top + tile % (BAND * across) % high, tile % (BAND * across) // high


@gluon.jit
def feed(x, y, xs, ys, there, gone, down, across, deep, BAND: gl.constexpr):
    HEIGHT: gl.constexpr = xs.shape[1]
    WIDTH: gl.constexpr = ys.shape[1]
    DEPTH: gl.constexpr = ys.shape[2]
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
                    x, [(2 * i + half) * HEIGHT, step * DEPTH], bar, xs.index(2 * at + half)
                )
            tma.async_copy_global_to_shared(y, [j * WIDTH, step * DEPTH], bar, ys.index(at))
            at += 1
            if at == RING:
                at, phase = 0, phase ^ 1


@gluon.jit
def short_sum(x, y, LAYOUT: gl.constexpr):
    HEIGHT: gl.constexpr = x.shape[0]
    SIDE: gl.constexpr = y.shape[0]
    nothing = gl.zeros((HEIGHT, SIDE), gl.float32, LAYOUT)
    some = warpgroup_mma(x, y.permute((1, 0)), nothing, use_acc=False, is_async=True)
    return warpgroup_mma_wait(0, deps=(some,))


@gluon.jit
def write(z, zs, total, x_scale, y_scale, row, col, m, n):
    LAYOUT: gl.constexpr = total.type.layout
    i = row + gl.arange(0, total.shape[0], layout=gl.SliceLayout(1, LAYOUT))
    j = col + gl.arange(0, total.shape[1], layout=gl.SliceLayout(0, LAYOUT))
    total *= gl.load(x_scale + i, mask=i < m, other=1.0)[:, None]
    total *= gl.load(y_scale + j, mask=j < n, other=1.0)[None, :]
    tma.store_wait(0)
    zs.store(total.to(z.dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(z, [row, col], zs)


@gluon.jit
def consume(half, z, xs, ys, zs, x_scale, y_scale, m, n, there, gone, down, across, deep, BAND: gl.constexpr):
    HEIGHT: gl.constexpr = xs.shape[1]
    SIDE: gl.constexpr = ys.shape[1] // 2
    RING: gl.constexpr = ys.shape[0]
    LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, SIDE, 32])
    turn = 0
    for tile in range(gl.program_id(0), down * across, gl.num_programs(0)):
        i, j = where(tile, down, across, BAND)
        left = gl.zeros((HEIGHT, SIDE), gl.float32, LAYOUT)
        right = gl.zeros((HEIGHT, SIDE), gl.float32, LAYOUT)
        for _ in range(deep):
            at = turn % RING
            mbarrier.wait(there.index(at), turn // RING & 1)
            x, y = xs.index(2 * at + half), ys.index(at)
            left += short_sum(x, y.slice(0, SIDE), LAYOUT)
            right += short_sum(x, y.slice(SIDE, SIDE), LAYOUT)
            mbarrier.arrive(gone.index(at), count=1)
            turn += 1
        row, col = (2 * i + half) * HEIGHT, 2 * j * SIDE
        write(z, zs.index(half), left, x_scale, y_scale, row, col, m, n)
        write(z, zs.index(half), right, x_scale, y_scale, row, col + SIDE, m, n)
    tma.store_wait(0)


@gluon.jit
def kernel(x, y, z, x_scale, y_scale, m, n, down, across, deep, RING: gl.constexpr, BAND: gl.constexpr):
    HEIGHT: gl.constexpr = x.block_type.shape[0]
    WIDTH: gl.constexpr = y.block_type.shape[0]
    DEPTH: gl.constexpr = y.block_type.shape[1]
    xs = gl.allocate_shared_memory(x.dtype, [2 * RING, HEIGHT, DEPTH], x.layout)
    ys = gl.allocate_shared_memory(y.dtype, [RING, WIDTH, DEPTH], y.layout)
    zs = gl.allocate_shared_memory(z.dtype, [2, HEIGHT, WIDTH // 2], z.layout)
    there = gl.allocate_shared_memory(gl.int64, [RING, 1], mbarrier.MBarrierLayout())
    gone = gl.allocate_shared_memory(gl.int64, [RING, 1], mbarrier.MBarrierLayout())
    for at in gl.static_range(RING):
        mbarrier.init(there.index(at), count=1)
        mbarrier.init(gone.index(at), count=2)
    fence_async_shared()
    gl.warp_specialize(
        [
            (consume, (0, z, xs, ys, zs, x_scale, y_scale, m, n, there, gone, down, across, deep, BAND)),
            (consume, (1, z, xs, ys, zs, x_scale, y_scale, m, n, there, gone, down, across, deep, BAND)),
            (feed, (x, y, xs, ys, there, gone, down, across, deep, BAND)),
        ],
        [4, 1],
        [240, 24],
    )


def in_blocks(tensor, *block):
    dtype = gl.bfloat16 if tensor.dtype == torch.bfloat16 else gl.float8e4nv
    layout = gl.NVMMASharedLayout.get_default_for(list(block), dtype)
    return TensorDescriptor.from_tensor(tensor, list(block), layout)


def fp8_matmul(a, b, a_scale, b_scale):
    m, k = a.shape
    n = b.shape[0]
    c = a_scale.new_empty((m, n), dtype=torch.bfloat16)
    down, across = triton.cdiv(m, 2 * HEIGHT), triton.cdiv(n, WIDTH)
    programs = 132 if not a.is_cuda else torch.cuda.get_device_properties(a.device).multi_processor_count
    blocks = in_blocks(a, HEIGHT, DEPTH), in_blocks(b, WIDTH, DEPTH), in_blocks(c, HEIGHT, WIDTH // 2)
    kernel[(min(programs, down * across),)](
        *blocks, a_scale, b_scale, m, n, down, across, triton.cdiv(k, DEPTH), RING, BAND, num_warps=4
    )
    return c
