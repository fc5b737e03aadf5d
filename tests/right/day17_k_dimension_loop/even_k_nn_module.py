"""Matmul as an nn.Module: EVEN_K by heuristics, a jitted load helper with tl.where, constexpr strides."""

import torch
import triton
import triton.language as tl


@triton.jit
def _masked_load(ptrs, mask, EVEN: tl.constexpr):
    if EVEN:
        x = tl.load(ptrs)
    else:
        x = tl.load(ptrs, mask=mask)
        x = tl.where(mask, x, 0.0)
    return x


@triton.heuristics({"EVEN_K": lambda args: args["K"] % args["BLOCK_K"] == 0})
@triton.jit
def _linear_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am: tl.constexpr,
    stride_ak: tl.constexpr,
    stride_bk: tl.constexpr,
    stride_bn: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    pid = tl.program_id(0)
    grid_m = tl.cdiv(M, BLOCK_M)
    offs_m = (pid % grid_m) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = (pid // grid_m) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    rows, cols = offs_m % M, offs_n % N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start_k in tl.range(0, K, BLOCK_K):
        k = start_k + offs_k
        a_ptrs = a_ptr + rows[:, None] * stride_am + k[None, :] * stride_ak
        b_ptrs = b_ptr + k[:, None] * stride_bk + cols[None, :] * stride_bn
        a = _masked_load(a_ptrs, (k < K)[None, :], EVEN_K)
        b = _masked_load(b_ptrs, (k < K)[:, None], EVEN_K)
        acc += tl.dot(a, b, input_precision="ieee")
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], acc, mask=mask)


class Matmul(torch.nn.Module):
    def forward(self, a, b):
        (M, K), N = a.shape, b.shape[1]
        out = torch.empty(M, N, device=a.device, dtype=a.dtype)
        half = a.dtype.itemsize == 2
        BLOCK_M, BLOCK_N, BLOCK_K = (128, 128, 64) if half else (64, 64, 32)
        grid = (triton.cdiv(M, BLOCK_M) * triton.cdiv(N, BLOCK_N),)
        _linear_kernel[grid](
            a,
            b,
            out,
            M,
            N,
            K,
            *a.stride(),
            *b.stride(),
            BLOCK_M=BLOCK_M,
            BLOCK_N=BLOCK_N,
            BLOCK_K=BLOCK_K,
            num_warps=8,
            num_stages=3 if half else 2,
        )
        return out


matmul = Matmul()
