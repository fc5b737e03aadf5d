"""Tiles of 128 × 64 for eight warps, whose axes are exchanged before their elements are moved."""

import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def turn(x, y, m, n, stride, READ: gl.constexpr, WRITE: gl.constexpr):
    i = gl.program_id(0) * 128 + gl.arange(0, 128, gl.SliceLayout(1, READ))
    j = gl.program_id(1) * 64 + gl.arange(0, 64, gl.SliceLayout(0, READ))
    tile = gl.load(
        x + i[:, None].to(gl.int64) * stride + j[None, :], (i < m)[:, None] & (j < n)[None, :], 0.0
    )
    tile = gl.convert_layout(tile.trans(), WRITE)
    j = gl.program_id(1) * 64 + gl.arange(0, 64, gl.SliceLayout(1, WRITE))
    i = gl.program_id(0) * 128 + gl.arange(0, 128, gl.SliceLayout(0, WRITE))
    gl.store(y + j[:, None].to(gl.int64) * m + i[None, :], tile, (j < n)[:, None] & (i < m)[None, :])


def transpose(x):
    m, n = x.shape
    y = x.new_empty(n, m)
    read = gl.BlockedLayout([1, 8], [4, 8], [8, 1], [1, 0])
    write = gl.BlockedLayout([1, 8], [2, 16], [8, 1], [1, 0])
    turn[triton.cdiv(m, 128), triton.cdiv(n, 64)](x, y, m, n, x.stride(0), read, write, num_warps=8)
    return y
