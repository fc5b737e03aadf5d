"""A transpose by tl.trans of a tile, a flat grid, int32 offsets, strides passed for both tensors."""

import torch
import triton
import triton.language as tl


@triton.jit
def transpose_kernel(
    x_ptr, y_ptr, M, N, stride_xm, stride_xn, stride_yn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    pid = tl.program_id(axis=0)
    grid_n = tl.cdiv(N, BLOCK_N)
    rm = (pid // grid_n) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = (pid % grid_n) * BLOCK_N + tl.arange(0, BLOCK_N)
    X = x_ptr + (rm[:, None] * stride_xm + rn[None, :] * stride_xn)
    x = tl.load(X, mask=(rm < M)[:, None] & (rn < N)[None, :])
    Y = y_ptr + (rn[:, None] * stride_yn + rm[None, :])
    tl.store(Y, tl.trans(x), mask=(rn < N)[:, None] & (rm < M)[None, :])


def transpose(x: torch.Tensor) -> torch.Tensor:
    assert x.ndim == 2, "expected a matrix"
    M, N = x.shape
    y = torch.empty((N, M), device=x.device, dtype=x.dtype)
    BLOCK_M, BLOCK_N = 64, 64
    grid = (triton.cdiv(M, BLOCK_M) * triton.cdiv(N, BLOCK_N),)
    transpose_kernel[grid](
        x, y, M, N, x.stride(0), x.stride(1), y.stride(0), BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, num_warps=4
    )
    return y
