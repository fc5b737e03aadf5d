"""Extra: a transpose whose layouts are chosen by hand: one to read by, one to write by."""

from __future__ import annotations

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

BLOCK = 64
READ = gl.BlockedLayout(size_per_thread=[1, 8], threads_per_warp=[4, 8], warps_per_cta=[4, 1], order=[1, 0])
# TODO 1: WRITE, by which neighbouring lanes hold what lies side by side in y, and each lane 16 bytes of it.


@gluon.jit
def offsets(pid, BLOCK: gl.constexpr, AXIS: gl.constexpr, LAYOUT: gl.constexpr):
    """The rows (AXIS 0) or columns (AXIS 1) of a program's tile, spread as LAYOUT spreads that axis."""
    return pid * BLOCK + gl.arange(0, BLOCK, layout=gl.SliceLayout(1 - AXIS, LAYOUT))


@gluon.jit
def transpose_kernel(
    x_ptr, y_ptr, m, n, stride_xm, BLOCK: gl.constexpr, READ: gl.constexpr, WRITE: gl.constexpr
):
    """y[j, i] = x[i, j]; a tile of BLOCK x BLOCK a program."""
    # TODO 2: load the tile of x by READ. Which of its elements exist?
    # TODO 3: give each element to the thread that is to store it.
    # TODO 4: store the tile by WRITE. Rows, columns and mask are in READ's layout so far.


def transpose(x: torch.Tensor) -> torch.Tensor:
    """Return x's transpose as a new, contiguous [n, m]; x[m, n] is fp16 or bf16, its rows in one piece."""
    m, n = x.shape
    y = torch.empty(n, m, dtype=x.dtype, device=x.device)
    # TODO 5: launch a program for each tile, with 4 warps.
    return y
