"""GEMV through block pointers of the matrix and the vector, tl.advance, an order chosen by strides.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def matvec_kernel(
    a_ptr, x_ptr, y_ptr, M, N, stride_am, stride_an, stride_x, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    pid_m = tl.program_id(axis=0)
    a_block_ptr = tl.make_block_ptr(
        base=a_ptr,
        shape=(M, N),
        strides=(stride_am, stride_an),
        offsets=(pid_m * BLOCK_M, 0),
        block_shape=(BLOCK_M, BLOCK_N),
        order=(1, 0),
    )
    x_block_ptr = tl.make_block_ptr(
        base=x_ptr, shape=(N,), strides=(stride_x,), offsets=(0,), block_shape=(BLOCK_N,), order=(0,)
    )
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, tl.cdiv(N, BLOCK_N)):
        a = tl.load(a_block_ptr, boundary_check=(0, 1), padding_option="zero")
        x = tl.load(x_block_ptr, boundary_check=(0,), padding_option="zero")
        acc += a.to(tl.float32) * x[None, :].to(tl.float32)
        a_block_ptr = tl.advance(a_block_ptr, (0, BLOCK_N))
        x_block_ptr = tl.advance(x_block_ptr, (BLOCK_N,))
    y = tl.sum(acc, axis=1)
    y_block_ptr = tl.make_block_ptr(
        base=y_ptr, shape=(M,), strides=(1,), offsets=(pid_m * BLOCK_M,), block_shape=(BLOCK_M,), order=(0,)
    )
    tl.store(y_block_ptr, y.to(y_ptr.dtype.element_ty), boundary_check=(0,))


def matvec(a, x):
    M, N = a.shape
    y = torch.empty((M,), dtype=a.dtype, device=a.device)
    BLOCK_M, BLOCK_N = (4, 1024) if a.stride(1) <= a.stride(0) else (128, 32)
    matvec_kernel[(triton.cdiv(M, BLOCK_M),)](
        a, x, y, M, N, *a.stride(), x.stride(0), BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, num_warps=8
    )
    return y
