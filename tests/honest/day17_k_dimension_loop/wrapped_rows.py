"""A 2-D grid; pointers are computed anew for each frame, and rows and columns past the end wrap around."""

import triton
import triton.language as tl


@triton.jit
def tile(A, B, C, M, N, K, sam, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(1) * BM + tl.arange(0, BM)
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    row_ptrs = A + (rm % M).to(tl.int64)[:, None] * sam
    col_ptrs = B + (rn % N).to(tl.int64)[None, :] * sbn
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for frame in range(tl.cdiv(K, BK)):
        rk = (frame * BK + tl.arange(0, BK)).to(tl.int64)
        left = tl.load(row_ptrs + rk[None, :] * sak, mask=rk[None, :] < K, other=0)
        right = tl.load(col_ptrs + rk[:, None] * sbk, mask=rk[:, None] < K, other=0)
        total += tl.dot(left, right, allow_tf32=False)
    where = C + rm.to(tl.int64)[:, None] * N + rn[None, :]
    tl.store(where, total.to(C.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


def matmul(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = a.new_empty((M, N))
    grid = (triton.cdiv(N, 64), triton.cdiv(M, 128))
    if M and N:
        tile[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), BM=128, BN=64, BK=64, num_warps=8)
    return c
