"""Matmul with host tensor descriptors where the layout allows them, else by pointers in int32."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def matmul_kernel_tma(a_desc, b_desc, c_desc, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    offs_m = tl.program_id(0) * BM
    offs_n = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for offs_k in range(0, K, BK):
        a = a_desc.load([offs_m, offs_k])
        b = b_desc.load([offs_k, offs_n])
        acc = tl.dot(a, b, acc)
    c_desc.store([offs_m, offs_n], acc.to(c_desc.dtype))


@triton.jit
def matmul_kernel(
    A, B, C, M, N, K, s_am, s_ak, s_bk, s_bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    A = A + rm[:, None] * s_am + rk[None, :] * s_ak
    B = B + rk[:, None] * s_bk + rn[None, :] * s_bn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(K, 0, -BK):
        a = tl.load(A, mask=(rm[:, None] < M) & (rk[None, :] < k), other=0.0)
        b = tl.load(B, mask=(rk[:, None] < k) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        A += BK * s_ak
        B += BK * s_bk
    tl.store(C + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


def _tma_ok(t):
    if t.is_cuda and torch.cuda.get_device_capability(t.device)[0] < 9:
        return False
    step = 16 // t.element_size()
    return t.stride(1) == 1 and t.stride(0) > 0 and t.stride(0) % step == 0 and t.data_ptr() % 16 == 0


def matmul(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    if min(M, N) == 0:
        return c
    if K > 0 and a.dtype != torch.float32 and all(_tma_ok(t) for t in (a, b, c)):
        BM, BN, BK = 128, 128, 64
        descs = [
            TensorDescriptor.from_tensor(t, block)
            for t, block in ((a, [BM, BK]), (b, [BK, BN]), (c, [BM, BN]))
        ]
        grid = (triton.cdiv(M, BM), triton.cdiv(N, BN))
        matmul_kernel_tma[grid](*descs, K, BM=BM, BN=BN, BK=BK, num_warps=8, num_stages=3)
    else:
        BM, BN, BK = 64, 64, 32
        grid = (triton.cdiv(M, BM), triton.cdiv(N, BN))
        matmul_kernel[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), BM=BM, BN=BN, BK=BK, num_warps=4)
    return c
