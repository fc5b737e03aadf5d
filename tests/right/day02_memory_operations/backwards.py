"""A two-dimensional block, its results stored from the last to the first; masks where none is needed."""

import torch
import triton
import triton.language as tl


@triton.jit
def fetch(y_ptr, x_ptr, first, hop, COUNT: tl.constexpr, ROWS: tl.constexpr):
    width: tl.constexpr = COUNT // ROWS
    lanes = tl.arange(0, ROWS)[:, None] * width + tl.arange(0, width)[None, :]
    back = COUNT - 1 - lanes
    x = tl.load(x_ptr + (first + back.to(tl.int64) * hop), mask=back >= 0)
    tl.store(y_ptr + back, x, mask=back < COUNT)


def gather_strided(x: torch.Tensor, start: int, step: int, count: int) -> torch.Tensor:
    (stride,) = x.stride()
    y = torch.zeros([count], dtype=x.dtype, device=x.device)
    rows = 2 if count > 1 else 1
    fetch[(1,)](y_ptr=y, x_ptr=x, first=start * stride, hop=step * stride, COUNT=count, ROWS=rows)
    return y
