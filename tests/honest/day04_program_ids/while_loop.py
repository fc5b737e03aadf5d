"""The number of programs is passed in, a while loop counts blocks, and the grid is a function."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(alpha, x, y, z, n, programs, SIZE: tl.constexpr):
    block = tl.program_id(0).to(tl.int64)
    blocks = tl.cdiv(n, SIZE)
    while block < blocks:
        i = block * SIZE + tl.arange(0, SIZE)
        sum_ = tl.load(y + i, mask=i < n)
        sum_ += alpha * tl.load(x + i, mask=i < n)
        tl.store(z + i, sum_, mask=i < n)
        block += programs


def axpy(alpha: float, x: torch.Tensor, y: torch.Tensor, num_programs: int) -> torch.Tensor:
    z = x.new_empty(x.size(0))
    kernel[lambda meta: (num_programs,)](alpha, x, y, z, len(x), num_programs, SIZE=512)
    return z
