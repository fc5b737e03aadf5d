"""A strided gather by one block pointer whose stride is step times x's own. May have limits."""

import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(x_ptr, y_ptr, count, start, step, stride_x, BLOCK: tl.constexpr):
    x_block = tl.make_block_ptr(
        base=x_ptr + start * stride_x,
        shape=(count,),
        strides=(step * stride_x,),
        offsets=(0,),
        block_shape=(BLOCK,),
        order=(0,),
    )
    y_block = tl.make_block_ptr(
        base=y_ptr, shape=(count,), strides=(1,), offsets=(0,), block_shape=(BLOCK,), order=(0,)
    )
    tl.store(y_block, tl.load(x_block, boundary_check=(0,)), boundary_check=(0,))


def gather_strided(x: torch.Tensor, start: int, step: int, count: int) -> torch.Tensor:
    y = torch.empty((count,), device=x.device, dtype=x.dtype)
    gather_kernel[(1,)](x, y, count, start, step, x.stride(0), BLOCK=count)
    return y
