"""A program takes 256 elements of a row of x, and scatters them down a column of y."""

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def kernel(x_ptr, y_ptr, m, n, stride, BLOCK: gl.constexpr):
    row = gl.program_id(0)
    cols = gl.program_id(1) * BLOCK + gl.arange(0, BLOCK, layout=gl.BlockedLayout([1], [32], [4], [0]))
    x = gl.load(x_ptr + row.to(gl.int64) * stride + cols, mask=cols < n)
    gl.store(y_ptr + cols.to(gl.int64) * m + row, x, mask=cols < n)


def transpose(x):
    m, n = x.shape
    y = torch.empty(n, m, dtype=x.dtype, device=x.device)
    kernel[(m, triton.cdiv(n, 256))](x, y, m, n, x.stride(0), BLOCK=256, num_warps=4)
    return y
