"""The way through shared memory is written out: the tile is stored by one layout, and loaded by the other."""

from __future__ import annotations

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

ROWS, COLS = 64, 64


@gluon.jit
def kernel(x_ptr, y_ptr, m, n, stride_xm, ROWS: gl.constexpr, COLS: gl.constexpr):
    READ: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    WRITE: gl.constexpr = gl.BlockedLayout([8, 1], [8, 4], [1, 4], [0, 1])
    SHARED: gl.constexpr = gl.SwizzledSharedLayout(vec=8, per_phase=1, max_phase=8, order=[1, 0])
    first_row, first_col = (
        gl.program_id(0) // gl.cdiv(n, COLS) * ROWS,
        gl.program_id(0) % gl.cdiv(n, COLS) * COLS,
    )
    rows = first_row + gl.arange(0, ROWS, layout=gl.SliceLayout(1, READ))
    cols = first_col + gl.arange(0, COLS, layout=gl.SliceLayout(0, READ))
    inside = (rows < m)[:, None] & (cols < n)[None, :]
    tile = gl.load(x_ptr + rows.to(gl.int64)[:, None] * stride_xm + cols[None, :], mask=inside)
    shared = gl.allocate_shared_memory(x_ptr.dtype.element_ty, [ROWS, COLS], SHARED, tile)
    tile = shared.load(WRITE)
    rows = first_row + gl.arange(0, ROWS, layout=gl.SliceLayout(1, WRITE))
    cols = first_col + gl.arange(0, COLS, layout=gl.SliceLayout(0, WRITE))
    inside = (rows < m)[:, None] & (cols < n)[None, :]
    gl.store(y_ptr + cols.to(gl.int64)[None, :] * m + rows[:, None], tile, mask=inside)


def transpose(x):
    m, n = x.shape
    y = torch.empty((n, m), dtype=x.dtype, device=x.device)
    kernel[(triton.cdiv(m, ROWS) * triton.cdiv(n, COLS),)](x, y, m, n, x.stride(0), ROWS, COLS)
    return y
