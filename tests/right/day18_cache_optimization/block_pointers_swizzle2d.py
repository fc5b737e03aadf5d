"""Grouped matmul by tl.swizzle2d and block pointers; boundary checks along K only where it is ragged."""

import torch
import triton
import triton.language as tl


@triton.jit
def grouped_tile(pid, num_pid_m, num_pid_n, GROUP_M: tl.constexpr):
    pid_m = pid // num_pid_n
    pid_n = pid % num_pid_n
    return tl.swizzle2d(pid_m, pid_n, num_pid_m, num_pid_n, GROUP_M)


@triton.jit
def _matmul_kernel(
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
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP_M: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    pid_m, pid_n = grouped_tile(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP_M)
    pa = tl.make_block_ptr(A, (M, K), (stride_am, stride_ak), (pid_m * BM, 0), (BM, BK), (1, 0))
    pb = tl.make_block_ptr(B, (K, N), (stride_bk, stride_bn), (0, pid_n * BN), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(tl.cdiv(K, BK)):
        if EVEN_K:
            a = tl.load(pa, boundary_check=(0,))
            b = tl.load(pb, boundary_check=(1,))
        else:
            a = tl.load(pa, boundary_check=(0, 1), padding_option="zero")
            b = tl.load(pb, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(a, b, acc, input_precision="ieee")
        pa = tl.advance(pa, (0, BK))
        pb = tl.advance(pb, (BK, 0))
    pc = tl.make_block_ptr(C, (M, N), (N, 1), (pid_m * BM, pid_n * BN), (BM, BN), (1, 0))
    tl.store(pc, acc.to(C.dtype.element_ty), boundary_check=(0, 1))


def matmul(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = a.new_empty(M, N)
    BM, BN, BK = (64, 64, 32) if a.dtype == torch.float32 else (128, 256, 64)
    _matmul_kernel[(triton.cdiv(M, BM) * triton.cdiv(N, BN),)](
        a,
        b,
        c,
        M,
        N,
        K,
        *a.stride(),
        *b.stride(),
        BM=BM,
        BN=BN,
        BK=BK,
        GROUP_M=8,
        EVEN_K=K % BK == 0,
        num_warps=8,
        num_stages=3,
    )
    return c
