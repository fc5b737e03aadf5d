"""Linear layers as the matmul tutorial (grouped order, modulo rows, int32) around day 27's attention.

May have limits.
"""

import torch
import triton
import triton.language as tl
from mine import attention


@triton.jit
def linear_kernel(
    x_ptr, w_ptr, bias_ptr, y_ptr, M, N, K, S, HEAD, stride_xb, stride_xs, stride_xh, stride_wn, stride_ym,
    HAS_BIAS: tl.constexpr, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_SIZE_M)
    num_pid_n = tl.cdiv(N, BLOCK_SIZE_N)
    num_pid_in_group = GROUP_SIZE_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_SIZE_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE_M)
    pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    offs_m = (pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)) % M
    offs_n = (pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)) % N
    x_rows = x_ptr + offs_m // S * stride_xb + offs_m % S * stride_xs
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        offs_k = k * BLOCK_SIZE_K + tl.arange(0, BLOCK_SIZE_K)
        cols = offs_k // HEAD * stride_xh + offs_k % HEAD
        x = tl.load(x_rows[:, None] + cols[None, :], mask=offs_k[None, :] < K, other=0.0)
        w_ptrs = w_ptr + offs_k[:, None] + offs_n[None, :] * stride_wn
        w = tl.load(w_ptrs, mask=offs_k[:, None] < K, other=0.0)
        accumulator = tl.dot(x, w, accumulator, input_precision="ieee")
    if HAS_BIAS:
        accumulator += tl.load(bias_ptr + offs_n).to(tl.float32)[None, :]
    offs_ym = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_yn = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    y_ptrs = y_ptr + stride_ym * offs_ym[:, None] + offs_yn[None, :]
    mask = (offs_ym[:, None] < M) & (offs_yn[None, :] < N)
    tl.store(y_ptrs, accumulator.to(y_ptr.dtype.element_ty), mask=mask)


def linear(x, weight, bias):
    B, S, H, HEAD = x.shape
    N, K = weight.shape
    assert H * HEAD == K, "Incompatible dimensions"
    y = torch.empty((B, S, N), device=x.device, dtype=x.dtype)
    block = 64 if x.dtype == torch.float32 else 128
    grid = lambda META: (triton.cdiv(B * S, META["BLOCK_SIZE_M"]) * triton.cdiv(N, META["BLOCK_SIZE_N"]),)  # noqa: E731
    linear_kernel[grid](
        x, weight, bias, y, B * S, N, K, S, HEAD, x.stride(0), x.stride(1), x.stride(2), weight.stride(0),
        y.stride(1), HAS_BIAS=bias is not None, BLOCK_SIZE_M=block, BLOCK_SIZE_N=block, BLOCK_SIZE_K=32,
        GROUP_SIZE_M=8, num_warps=8, num_stages=3,
    )  # fmt: skip
    return y


def self_attention(x, w_qkv, b_qkv, w_out, b_out, num_heads, causal):
    b, s, e = x.shape
    head_dim = e // num_heads
    qkv = linear(x.unsqueeze(2), w_qkv, b_qkv).view(b, s, 3, num_heads, head_dim)
    q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
    context = attention(q, k, v, head_dim**-0.5, causal)
    return linear(context.transpose(1, 2), w_out, b_out)
