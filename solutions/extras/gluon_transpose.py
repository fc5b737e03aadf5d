"""Extra: a transpose whose layouts are chosen by hand: one to read by, one to write by."""

from __future__ import annotations

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

# A tile of 64 × 64 elements of 2 bytes is 8 KB. By READ eight neighbouring lanes hold a row of it, 16 bytes
# each: 128 bytes that lie side by side in x. By WRITE eight lanes hold a column, which is a row of y. Between
# the two `gl.convert_layout` moves each element through shared memory to the thread that stores it.
BLOCK = 64
READ = gl.BlockedLayout(size_per_thread=[1, 8], threads_per_warp=[4, 8], warps_per_cta=[4, 1], order=[1, 0])
WRITE = gl.BlockedLayout(size_per_thread=[8, 1], threads_per_warp=[8, 4], warps_per_cta=[1, 4], order=[0, 1])


@gluon.jit
def offsets(pid, BLOCK: gl.constexpr, AXIS: gl.constexpr, LAYOUT: gl.constexpr):
    """The rows (AXIS 0) or columns (AXIS 1) of a program's tile, spread as LAYOUT spreads that axis."""
    return pid * BLOCK + gl.arange(0, BLOCK, layout=gl.SliceLayout(1 - AXIS, LAYOUT))


@gluon.jit
def transpose_kernel(
    x_ptr, y_ptr, m, n, stride_xm, BLOCK: gl.constexpr, READ: gl.constexpr, WRITE: gl.constexpr
):
    """y[j, i] = x[i, j]; a tile of BLOCK x BLOCK a program."""
    pid_m, pid_n = gl.program_id(1), gl.program_id(0)
    rows, cols = offsets(pid_m, BLOCK, 0, READ), offsets(pid_n, BLOCK, 1, READ)
    inside = (rows < m)[:, None] & (cols < n)[None, :]
    x = gl.load(x_ptr + rows.to(gl.int64)[:, None] * stride_xm + cols[None, :], mask=inside)
    x = gl.convert_layout(x, WRITE)
    rows, cols = offsets(pid_m, BLOCK, 0, WRITE), offsets(pid_n, BLOCK, 1, WRITE)
    inside = (rows < m)[:, None] & (cols < n)[None, :]
    gl.store(y_ptr + cols.to(gl.int64)[None, :] * m + rows[:, None], x, mask=inside)


def transpose(x: torch.Tensor) -> torch.Tensor:
    """Return x's transpose as a new, contiguous [n, m]; x[m, n] is fp16 or bf16, its rows in one piece."""
    m, n = x.shape
    y = torch.empty(n, m, dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(n, BLOCK), triton.cdiv(m, BLOCK))
    transpose_kernel[grid](x, y, m, n, x.stride(0), BLOCK, READ, WRITE, num_warps=4)
    return y
