"""Stream-K: a fixed number of programs share all (tile, k) steps evenly, fp32 atomics, a cast kernel."""

import torch
import triton
import triton.language as tl


@triton.jit
def stream_k_kernel(
    a_ptr,
    b_ptr,
    acc_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    iters_per_tile = tl.cdiv(K, BLOCK_K)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    total_iters = tl.cdiv(M, BLOCK_M) * num_pid_n * iters_per_tile
    share = tl.cdiv(total_iters, tl.num_programs(0))
    start = tl.program_id(0) * share
    last = tl.minimum(start + share, total_iters)
    while start < last:
        tile_id = start // iters_per_tile
        k_first = start % iters_per_tile
        k_last = tl.minimum(k_first + last - start, iters_per_tile)
        rm = (tile_id // num_pid_n) * BLOCK_M + tl.arange(0, BLOCK_M)
        rn = (tile_id % num_pid_n) * BLOCK_N + tl.arange(0, BLOCK_N)
        rk = k_first * BLOCK_K + tl.arange(0, BLOCK_K)
        mask_m, mask_n = rm[:, None] < M, rn[None, :] < N
        a_ptrs = a_ptr + rm[:, None] * stride_am + rk[None, :] * stride_ak
        b_ptrs = b_ptr + rk[:, None] * stride_bk + rn[None, :] * stride_bn
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for _ in range(k_first, k_last):
            a = tl.load(a_ptrs, mask=mask_m & (rk[None, :] < K), other=0.0)
            b = tl.load(b_ptrs, mask=mask_n & (rk[:, None] < K), other=0.0)
            acc = tl.dot(a, b, acc, input_precision="ieee")
            a_ptrs += BLOCK_K * stride_ak
            b_ptrs += BLOCK_K * stride_bk
            rk += BLOCK_K
        tl.atomic_add(acc_ptr + rm[:, None] * N + rn[None, :], acc, mask=mask_m & mask_n)
        start += k_last - k_first


@triton.jit
def cast_kernel(src_ptr, dst_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    tl.store(dst_ptr + offsets, tl.load(src_ptr + offsets, mask=mask), mask=mask)


def matmul_split_k(a, b):
    M, K = a.shape
    N = b.shape[1]
    programs = 108
    if a.is_cuda:
        programs = torch.cuda.get_device_properties(a.device).multi_processor_count
    acc = torch.zeros((M, N), dtype=torch.float32, device=a.device)
    if M * N * K > 0:
        BM, BN, BK = (64, 64, 32) if a.dtype == torch.float32 else (128, 128, 64)
        stream_k_kernel[(programs,)](
            a, b, acc, M, N, K, *a.stride(), *b.stride(), BM, BN, BK, num_warps=8, num_stages=3
        )
    if a.dtype == torch.float32:
        return acc
    out = torch.empty((M, N), dtype=a.dtype, device=a.device)
    cast_kernel[(triton.cdiv(acc.numel(), 1024),)](acc, out, acc.numel(), BLOCK_SIZE=1024)
    return out
