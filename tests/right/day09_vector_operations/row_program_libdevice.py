"""Bias and GELU with a program a row, a loop over column blocks, libdevice.tanh, pointers bumped.

May have limits.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra.libdevice import tanh


@triton.jit
def _bias_gelu_forward_kernel(x, bias, y, x_row_stride, y_row_stride, n_cols, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    x += row * x_row_stride
    y += row * y_row_stride
    sqrt_2_over_pi = 0.7978845608028654
    for start in range(0, n_cols, BLOCK_SIZE):
        col_offsets = start + tl.arange(0, BLOCK_SIZE)
        mask = col_offsets < n_cols
        x_row = tl.load(x + col_offsets, mask=mask, other=0).to(tl.float32)
        b_row = tl.load(bias + col_offsets, mask=mask, other=0).to(tl.float32)
        u = x_row + b_row
        tanh_arg = sqrt_2_over_pi * (u + 0.044715 * u * u * u)
        geglu = 0.5 * u * (1 + tanh(tanh_arg))
        tl.store(y + col_offsets, geglu.to(y.dtype.element_ty), mask=mask)


def bias_gelu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    n_rows, n_cols = x.shape
    y = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    BLOCK_SIZE = min(triton.next_power_of_2(n_cols), 4096)
    num_warps = 8 if BLOCK_SIZE >= 2048 else 4
    _bias_gelu_forward_kernel[(n_rows,)](
        x, bias, y, x.stride(0), y.stride(0), n_cols, BLOCK_SIZE=BLOCK_SIZE, num_warps=num_warps
    )
    return y
