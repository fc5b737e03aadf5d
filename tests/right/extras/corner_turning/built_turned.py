"""Pointers that are turned when they are built, as on day 19: the compiler finds the axis by the strides."""

import triton
import triton.language as tl


@triton.jit
def tile(A, B, C, M, N, K, am, ak, bn, bk, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    wide = tl.cdiv(N, BN)
    i = (tl.program_id(0) // wide).to(tl.int64) * BM + tl.arange(0, BM)
    j = (tl.program_id(0) % wide).to(tl.int64) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        q = (start + tl.arange(0, BK)).to(tl.int64)
        x = tl.load(A + (i % M)[:, None] * am + q[None, :] * ak, mask=(q < K)[None, :], other=0.0)
        y = tl.load(B + (j % N)[None, :] * bn + q[:, None] * bk, mask=(q < K)[:, None], other=0.0)
        total = tl.dot(x, y, total)
    tl.store(C + i[:, None] * N + j[None, :], total, mask=(i < M)[:, None] & (j < N)[None, :])


def matmul_nt(a, b):
    (M, K), N = a.shape, b.shape[0]
    c = a.new_empty(M, N)
    grid = (triton.cdiv(M, 128) * triton.cdiv(N, 128),)
    tile[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), BM=128, BN=128, BK=64, num_warps=8)
    return c
