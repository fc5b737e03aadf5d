"""An outer sum by block pointers with boundary checks, a flat grid. May have limits."""

import torch
import triton
import triton.language as tl


@triton.jit
def outer_add_kernel(x_ptr, y_ptr, out_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pid = tl.program_id(0)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    start_m = (pid // num_pid_n) * BLOCK_M
    start_n = (pid % num_pid_n) * BLOCK_N
    x_block_ptr = tl.make_block_ptr(x_ptr, (M,), (1,), (start_m,), (BLOCK_M,), (0,))
    y_block_ptr = tl.make_block_ptr(y_ptr, (N,), (1,), (start_n,), (BLOCK_N,), (0,))
    out_block_ptr = tl.make_block_ptr(
        base=out_ptr,
        shape=(M, N),
        strides=(N, 1),
        offsets=(start_m, start_n),
        block_shape=(BLOCK_M, BLOCK_N),
        order=(1, 0),
    )
    x = tl.load(x_block_ptr, boundary_check=(0,))
    y = tl.load(y_block_ptr, boundary_check=(0,))
    tl.store(out_block_ptr, x[:, None] + y[None, :], boundary_check=(0, 1))


def outer_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    assert x.dtype == y.dtype
    assert x.dim() == 1
    assert y.dim() == 1
    M, N = x.shape[0], y.shape[0]
    out = torch.empty((M, N), device=x.device, dtype=x.dtype)
    grid = (triton.cdiv(M, 32) * triton.cdiv(N, 128),)
    outer_add_kernel[grid](x, y, out, M, N, BLOCK_M=32, BLOCK_N=128)
    return out
