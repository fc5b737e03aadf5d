"""Day 09: bias and GELU in one pass, a tile at a time."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def gelu(u):
    """0.5 u (1 + tanh z) with z = sqrt(2/pi) (u + 0.044715 u**3), for fp32 u of any size."""
    # TODO 1: return it. Triton has tl.exp but no tanh; for u = 10000 nothing may overflow into a NaN.


@triton.jit
def bias_gelu_kernel(
    x_ptr, bias_ptr, y_ptr, n_rows, n_cols, stride_xm, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    """y[i, j] = gelu(x[i, j] + bias[j]); a program owns a tile of BLOCK_M rows and BLOCK_N columns."""
    # TODO 2: find this program's rows and columns, and which of them exist.
    # TODO 3: read one bias for each column, and the tile of x, once.
    # TODO 4: add and apply gelu in fp32, whatever the dtype of x.
    # TODO 5: write the tile, once. y's rows lie side by side; x's may not.


def bias_gelu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return GELU(x + bias), tanh form, for x[m, n] with rows any distance apart, and bias[n]."""
    n_rows, n_cols = x.shape
    y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
    # TODO 6: choose BLOCK_M and BLOCK_N, and launch a program for each tile of x.
    return y
