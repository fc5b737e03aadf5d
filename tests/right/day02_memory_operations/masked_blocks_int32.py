"""A strided gather as indexing kernels do it: a flat grid of masked blocks, int32 offsets."""

import torch
import triton
import triton.language as tl


@triton.jit
def gather_strided_kernel(out_ptr, inp_ptr, start, step, inp_stride, N, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    offset = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offset < N
    index = start + offset * step
    val = tl.load(inp_ptr + index * inp_stride, mask=mask, other=0)
    tl.store(out_ptr + offset, val, mask=mask)


def gather_strided(x: torch.Tensor, start: int, step: int, count: int) -> torch.Tensor:
    assert x.ndim == 1, "expected a vector"
    out = x.new_empty(count)
    grid = lambda meta: (triton.cdiv(count, meta["BLOCK_SIZE"]),)  # noqa: E731
    gather_strided_kernel[grid](out, x, start, step, x.stride(0), count, BLOCK_SIZE=1024)
    return out
