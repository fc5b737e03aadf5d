"""Tensor descriptors made in the kernel where the layout allows them, pointers elsewhere."""

import torch
import triton
import triton.language as tl


def alloc_fn(size: int, alignment: int, stream: int | None):
    return torch.empty(size, device="cuda", dtype=torch.int8)


@triton.jit
def mm_desc(a_ptr, b_ptr, c_ptr, M, N, K, sam, sbk, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[sam, 1], block_shape=[BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, shape=[K, N], strides=[sbk, 1], block_shape=[BK, BN])
    c = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    pid = tl.program_id(0)
    nn = tl.cdiv(N, BN)
    om, on = pid // nn * BM, pid % nn * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(0, K, BK):
        acc = tl.dot(a.load([om, k]), b.load([k, on]), acc)
    c.store([om, on], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def mm_ptr(
    a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    pid = tl.program_id(0)
    nn = tl.cdiv(N, BN)
    rm = (pid // nn).to(tl.int64) * BM + tl.arange(0, BM)
    rn = (pid % nn).to(tl.int64) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK).to(tl.int64)
    A = a_ptr + rm[:, None] * sam + rk[None, :] * sak
    B = b_ptr + rk[:, None] * sbk + rn[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(K, 0, -BK):
        x = tl.load(A, mask=(rm[:, None] < M) & (rk[None, :] < k), other=0.0)
        y = tl.load(B, mask=(rk[:, None] < k) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(x, y, input_precision="ieee")
        A += BK * tl.cast(sak, tl.int64)
        B += BK * tl.cast(sbk, tl.int64)
    tl.store(
        c_ptr + rm[:, None] * N + rn[None, :],
        acc.to(c_ptr.dtype.element_ty),
        mask=(rm[:, None] < M) & (rn[None, :] < N),
    )


def tma_ok(*ts):
    return all(
        t.stride(1) == 1
        and t.stride(0) * t.element_size() % 16 == 0
        and t.stride(0) > 0
        and t.data_ptr() % 16 == 0
        and t.numel()
        for t in ts
    )


def matmul(a, b):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    if 0 in (M, N):
        return c
    if a.element_size() == 2 and K and tma_ok(a, b, c):
        triton.set_allocator(alloc_fn)
        mm_desc[(triton.cdiv(M, 128) * triton.cdiv(N, 128),)](
            a, b, c, M, N, K, a.stride(0), b.stride(0), BM=128, BN=128, BK=64, num_warps=8, num_stages=3
        )
    else:
        mm_ptr[(triton.cdiv(M, 64) * triton.cdiv(N, 64),)](
            a, b, c, M, N, K, *a.stride(), *b.stride(), BM=64, BN=64, BK=32
        )
    return c
