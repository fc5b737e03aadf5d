"""Split-K in two stages: block pointers over contiguous chunks of K, sheets added by a loop of loads.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _mm_kernel_general(
    A, B, P, M, N, K, chunk, sam, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    pid_m, pid_n, pid_k = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    k0 = pid_k * chunk
    k1 = tl.minimum(K, k0 + chunk)
    a_ptr = tl.make_block_ptr(A, (M, k1), (sam, sak), (pid_m * BM, k0), (BM, BK), (1, 0))
    b_ptr = tl.make_block_ptr(B, (k1, N), (sbk, sbn), (k0, pid_n * BN), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(k0, k1, BK):
        a = tl.load(a_ptr, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(b_ptr, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_ptr = tl.advance(a_ptr, (0, BK))
        b_ptr = tl.advance(b_ptr, (BK, 0))
    p_ptr = tl.make_block_ptr(P + pid_k * M * N, (M, N), (N, 1), (pid_m * BM, pid_n * BN), (BM, BN), (1, 0))
    tl.store(p_ptr, acc, boundary_check=(0, 1))


@triton.jit
def _sum_splits(P, C, numel, splits, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < numel
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for s in range(splits):
        acc += tl.load(P + s * numel + offs, mask=mask, other=0.0)
    tl.store(C + offs, acc.to(C.dtype.element_ty), mask=mask)


def matmul_split_k(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = a.new_empty(M, N)
    BM = min(128, max(16, triton.next_power_of_2(M)))
    BN = min(128, max(16, triton.next_power_of_2(N)))
    BK = 64 if a.element_size() == 2 else 32
    if a.element_size() == 4:
        BM, BN = min(BM, 64), min(BN, 64)
    grid_m, grid_n = triton.cdiv(M, BM), triton.cdiv(N, BN)
    blocks = triton.cdiv(K, BK)
    splits = max(1, min(128 // max(1, grid_m * grid_n), blocks // 4))
    chunk = triton.cdiv(blocks, splits) * BK
    partials = torch.empty((splits, M, N), dtype=torch.float32, device=a.device)
    _mm_kernel_general[(grid_m, grid_n, splits)](
        a, b, partials, M, N, K, chunk, *a.stride(), *b.stride(), BM, BN, BK, num_warps=8, num_stages=3
    )
    numel = M * N
    _sum_splits[(triton.cdiv(numel, 512),)](partials, c, numel, splits, BLOCK=512, num_warps=4)
    return c
