"""Grouped GEMM in MoE style: a small kernel writes each tile's expert and first row, int32 offsets."""

import torch
import triton
import triton.language as tl


@triton.jit
def _align_kernel(sizes_ptr, expert_ptr, row_ptr, E, num_tiles, BLOCK_M: tl.constexpr, BLOCK_E: tl.constexpr):
    pid = tl.program_id(0)
    offs = tl.arange(0, BLOCK_E)
    sizes = tl.load(sizes_ptr + offs, mask=offs < E, other=0)
    blocks = (sizes + BLOCK_M - 1) // BLOCK_M
    block_ends = tl.cumsum(blocks, 0)
    row_ends = tl.cumsum(sizes, 0)
    expert = tl.sum((block_ends <= pid).to(tl.int32), 0)
    first_block = tl.max(tl.where(offs < expert, block_ends, 0), 0)
    first_row = tl.max(tl.where(offs < expert, row_ends, 0), 0)
    tl.store(expert_ptr + pid, tl.where(expert < E, expert, -1))
    tl.store(row_ptr + pid, first_row + (pid - first_block) * BLOCK_M)
    tl.store(row_ptr + num_tiles + pid, tl.max(tl.where(offs <= expert, row_ends, 0), 0))


@triton.jit
def _moe_gemm_kernel(
    x_ptr,
    w_ptr,
    c_ptr,
    expert_ptr,
    row_ptr,
    num_tiles,
    N,
    K,
    stride_xm,
    stride_xk,
    stride_we,
    stride_wk,
    stride_wn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    pid = tl.program_id(0)
    width = GROUP_M * tl.cdiv(N, BLOCK_N)
    group_size = min(num_tiles - pid // width * GROUP_M, GROUP_M)
    pid_m = pid // width * GROUP_M + (pid % width) % group_size
    pid_n = (pid % width) // group_size
    expert = tl.load(expert_ptr + pid_m)
    if expert == -1:
        return
    offs_m = tl.load(row_ptr + pid_m) + tl.arange(0, BLOCK_M)
    mask_m = (offs_m < tl.load(row_ptr + num_tiles + pid_m))[:, None]
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_bn = offs_n % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = x_ptr + offs_m[:, None] * stride_xm + offs_k[None, :] * stride_xk
    b_ptrs = w_ptr + expert * stride_we + offs_k[:, None] * stride_wk + offs_bn[None, :] * stride_wn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=mask_m & (offs_k[None, :] < K - k * BLOCK_K), other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_ptrs += BLOCK_K * stride_xk
        b_ptrs += BLOCK_K * stride_wk
    c_ptrs = c_ptr + offs_m[:, None] * N + offs_n[None, :]
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=mask_m & (offs_n[None, :] < N))


def grouped_matmul(x, w, group_sizes):
    (T, K), (E, _, N) = x.shape, w.shape
    out = x.new_empty((T, N))
    if out.numel() == 0:
        return out
    BLOCK_N, BLOCK_K = (64, 32) if x.dtype == torch.float32 else (128, 64)
    BLOCK_M = min(max(triton.next_power_of_2(T // E), 16), BLOCK_N)
    num_tiles = T // BLOCK_M + min(E, T)
    experts = torch.empty(num_tiles, dtype=torch.int32, device=x.device)
    rows = torch.empty((2, num_tiles), dtype=torch.int32, device=x.device)
    _align_kernel[(num_tiles,)](
        group_sizes, experts, rows, E, num_tiles, BLOCK_M, triton.next_power_of_2(E), num_warps=1
    )
    grid = (num_tiles * triton.cdiv(N, BLOCK_N),)
    _moe_gemm_kernel[grid](
        x,
        w,
        out,
        experts,
        rows,
        num_tiles,
        N,
        K,
        *x.stride(),
        *w.stride(),
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        GROUP_M=8,
        num_warps=8 if BLOCK_M * BLOCK_N > 4096 else 4,
        num_stages=3,
    )
    return out
