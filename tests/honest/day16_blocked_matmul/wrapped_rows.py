"""A 2-D grid; rows and columns past the end wrap around to the start, so only k and the store are masked."""

import triton
import triton.language as tl


@triton.jit
def tile(A, B, C, M, N, K, sam, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(1) * BM + tl.arange(0, BM)
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    left = tl.load(A + (rm % M)[:, None] * sam + rk[None, :] * sak, mask=rk[None, :] < K, other=0)
    right = tl.load(B + rk[:, None] * sbk + (rn % N)[None, :] * sbn, mask=rk[:, None] < K, other=0)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    total = tl.dot(left, right, total, allow_tf32=False)
    where = C + rm.to(tl.int64)[:, None] * N + rn[None, :]
    tl.store(where, total.to(C.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


def matmul(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = a.new_empty((M, N))
    bk = 16
    while bk < K:
        bk *= 2
    grid = (triton.cdiv(N, 64), triton.cdiv(M, 64))
    if M and N:
        tile[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), BM=64, BN=64, BK=bk, num_warps=8)
    return c
