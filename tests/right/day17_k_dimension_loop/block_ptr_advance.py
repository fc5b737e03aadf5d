"""Matmul by block pointers that tl.advance moves along K; a 2-D grid, blocks from a table.

May have limits.
"""

import torch
import triton
import triton.language as tl

# dtype -> BLOCK_M, BLOCK_N, BLOCK_K, num_warps, num_stages
_TABLE = {
    torch.float32: (64, 64, 32, 8, 2),
    torch.float16: (128, 128, 64, 8, 3),
    torch.bfloat16: (128, 128, 64, 8, 3),
}


@triton.jit
def _gemm_kernel(
    A,
    B,
    C,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    start_m = tl.program_id(1) * BLOCK_M
    start_n = tl.program_id(0) * BLOCK_N
    a_ptr = tl.make_block_ptr(A, (M, K), (stride_am, stride_ak), (start_m, 0), (BLOCK_M, BLOCK_K), (1, 0))
    b_ptr = tl.make_block_ptr(B, (K, N), (stride_bk, stride_bn), (0, start_n), (BLOCK_K, BLOCK_N), (1, 0))
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for _ in range(0, K, BLOCK_K):
        a = tl.load(a_ptr, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(b_ptr, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(a, b, acc=acc, input_precision="ieee")
        a_ptr = tl.advance(a_ptr, (0, BLOCK_K))
        b_ptr = tl.advance(b_ptr, (BLOCK_K, 0))
    c_ptr = tl.make_block_ptr(C, (M, N), (stride_cm, 1), (start_m, start_n), (BLOCK_M, BLOCK_N), (1, 0))
    tl.store(c_ptr, acc.to(C.dtype.element_ty), boundary_check=(0, 1))


def matmul(a, b):
    M, K = a.shape
    N = b.shape[1]
    c = a.new_empty((M, N))
    BLOCK_M, BLOCK_N, BLOCK_K, num_warps, num_stages = _TABLE[a.dtype]
    _gemm_kernel[(triton.cdiv(N, BLOCK_N), triton.cdiv(M, BLOCK_M))](
        a,
        b,
        c,
        M,
        N,
        K,
        *a.stride(),
        *b.stride(),
        c.stride(0),
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        num_warps=num_warps,
        num_stages=num_stages,
    )
    return c
