"""W8A8 matmul on the tutorial's frame: int32 accumulator, wrapped rows, b's sums for the zero point.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _int8_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    as_ptr,
    bs_ptr,
    az_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    HAS_ZERO: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    pid = tl.program_id(0)
    grid_m, grid_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    pid_m, pid_n = tl.swizzle2d(pid // grid_n, pid % grid_n, grid_m, grid_n, GROUP_M)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + ((offs_m % M)[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + (offs_n % N)[None, :] * stride_bn)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32)
    b_sum = tl.zeros((BLOCK_N,), dtype=tl.int32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0)
        acc += tl.dot(a, b, out_dtype=tl.int32)
        if HAS_ZERO:
            b_sum += tl.sum(b.to(tl.int32), axis=0)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if HAS_ZERO:
        zero = tl.load(az_ptr + offs_m, mask=offs_m < M, other=0)
        acc -= zero[:, None] * b_sum[None, :]
    a_scale = tl.load(as_ptr + offs_m, mask=offs_m < M, other=0.0)
    b_scale = tl.load(bs_ptr + offs_n, mask=offs_n < N, other=0.0)
    c = acc.to(tl.float32) * a_scale[:, None] * b_scale[None, :]
    c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :]
    tl.store(c_ptrs, c, mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


def int8_matmul(a, b, a_scale, b_scale, a_zero):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=torch.float32, device=a.device)
    grid = (triton.cdiv(M, 128) * triton.cdiv(N, 128),)
    _int8_kernel[grid](
        a,
        b,
        c,
        a_scale,
        b_scale,
        a_zero,
        M,
        N,
        K,
        *a.stride(),
        *b.stride(),
        c.stride(0),
        HAS_ZERO=a_zero is not None,
        BLOCK_M=128,
        BLOCK_N=128,
        BLOCK_K=64,
        GROUP_M=8,
        num_warps=8,
        num_stages=4,
    )
    return c
