"""The vector seen as a matrix of two rows, added to itself, by a grid that is a function."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_itself(x_ptr, y_ptr, ROWS: tl.constexpr, COLS: tl.constexpr):
    offs = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    x = tl.load(x_ptr + offs)
    one = tl.full((ROWS, COLS), 1, tl.float32)
    tl.store(y_ptr + offs, (x + x + one).to(y_ptr.dtype.element_ty))


def scale_and_shift(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros_like(x)
    rows = 2 if x.numel() > 1 else 1
    add_itself[lambda meta: (1, 1, 1)](x, y, ROWS=rows, COLS=x.numel() // rows)
    return y
