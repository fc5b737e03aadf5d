"""Grouped GEMM as in the tutorial: a fixed number of programs walk over the groups and their tiles, int32."""

import torch
import triton
import triton.language as tl


def num_sms():
    if torch.cuda.is_available():
        return torch.cuda.get_device_properties("cuda").multi_processor_count
    return 64


@triton.jit
def grouped_matmul_kernel(
    x_ptr,
    w_ptr,
    out_ptr,
    group_sizes_ptr,
    num_groups,
    N,
    K,
    stride_xm,
    stride_xk,
    stride_we,
    stride_wk,
    stride_wn,
    NUM_SM: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    tile_idx = tl.program_id(0)
    last_problem_end = 0
    row_start = 0
    num_n_tiles = tl.cdiv(N, BLOCK_N)
    for g in range(num_groups):
        gm = tl.load(group_sizes_ptr + g)
        num_m_tiles = tl.cdiv(gm, BLOCK_M)
        num_tiles = num_m_tiles * num_n_tiles
        while tile_idx >= last_problem_end and tile_idx < last_problem_end + num_tiles:
            tile_idx_in_gemm = tile_idx - last_problem_end
            offs_m = (tile_idx_in_gemm % num_m_tiles) * BLOCK_M + tl.arange(0, BLOCK_M)
            offs_n = (tile_idx_in_gemm // num_m_tiles) * BLOCK_N + tl.arange(0, BLOCK_N)
            offs_k = tl.arange(0, BLOCK_K)
            rows = row_start + offs_m
            mask_m, mask_n = offs_m[:, None] < gm, offs_n[None, :] < N
            x_ptrs = x_ptr + rows[:, None] * stride_xm + offs_k[None, :] * stride_xk
            w_ptrs = w_ptr + g * stride_we + offs_k[:, None] * stride_wk + offs_n[None, :] * stride_wn
            acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for kk in range(0, tl.cdiv(K, BLOCK_K)):
                k_mask = offs_k < K - kk * BLOCK_K
                x = tl.load(x_ptrs, mask=mask_m & k_mask[None, :], other=0.0)
                w = tl.load(w_ptrs, mask=mask_n & k_mask[:, None], other=0.0)
                acc += tl.dot(x, w, input_precision="ieee")
                x_ptrs += BLOCK_K * stride_xk
                w_ptrs += BLOCK_K * stride_wk
            out_ptrs = out_ptr + rows[:, None] * N + offs_n[None, :]
            tl.store(out_ptrs, acc.to(out_ptr.dtype.element_ty), mask=mask_m & mask_n)
            tile_idx += NUM_SM
        last_problem_end += num_tiles
        row_start += gm


def grouped_matmul(x, w, group_sizes):
    T, K = x.shape
    E, _, N = w.shape
    out = torch.empty((T, N), dtype=x.dtype, device=x.device)
    BLOCK_M, BLOCK_N, BLOCK_K = (64, 64, 32) if x.dtype == torch.float32 else (128, 128, 64)
    NUM_SM = num_sms()
    grouped_matmul_kernel[(NUM_SM,)](
        x,
        w,
        out,
        group_sizes,
        E,
        N,
        K,
        *x.stride(),
        *w.stride(),
        NUM_SM=NUM_SM,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        num_warps=8,
        num_stages=3,
    )
    return out
