"""Vector addition: block pointers that tl.advance moves over four blocks a program."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(
    x_ptr, y_ptr, out_ptr, n, stride_x, stride_y, BLOCK: tl.constexpr, BLOCKS_PER_PROG: tl.constexpr
):
    start = tl.program_id(0).to(tl.int64) * (BLOCK * BLOCKS_PER_PROG)
    left = n - start  # block pointers count in 32 bits, so each begins at its program's first element
    x_block = tl.make_block_ptr(x_ptr + start * stride_x, (left,), (stride_x,), (0,), (BLOCK,), (0,))
    y_block = tl.make_block_ptr(y_ptr + start * stride_y, (left,), (stride_y,), (0,), (BLOCK,), (0,))
    out_block = tl.make_block_ptr(out_ptr + start, (left,), (1,), (0,), (BLOCK,), (0,))
    for _ in tl.static_range(BLOCKS_PER_PROG):
        x = tl.load(x_block, boundary_check=(0,))
        y = tl.load(y_block, boundary_check=(0,))
        tl.store(out_block, x + y, boundary_check=(0,))
        x_block = tl.advance(x_block, (BLOCK,))
        y_block = tl.advance(y_block, (BLOCK,))
        out_block = tl.advance(out_block, (BLOCK,))


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    assert x.dim() == 1
    n = x.shape[0]
    out = torch.empty(n, dtype=torch.promote_types(x.dtype, y.dtype), device=x.device)
    BLOCK, PER_PROG = 1024, 4
    grid = (triton.cdiv(n, BLOCK * PER_PROG),)
    add_kernel[grid](x, y, out, n, x.stride(0), y.stride(0), BLOCK=BLOCK, BLOCKS_PER_PROG=PER_PROG)
    return out
