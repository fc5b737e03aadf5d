"""A block of sums for each tile of the strip; all of them meet the same piece of a in every turn."""

import triton
import triton.language as tl


@triton.jit
def tile_of_b(B, q, start, N, K, SIDE: tl.constexpr):
    j = start + tl.arange(0, SIDE)
    return tl.load(B + q[:, None] * N + j[None, :], mask=(q < K)[:, None] & (j < N)[None, :], other=0.0)


@triton.jit
def put(C, total, i, start, M, N, SIDE: tl.constexpr):
    j = start + tl.arange(0, SIDE)
    tl.store(C + i[:, None] * N + j[None, :], total, mask=(i < M)[:, None] & (j < N)[None, :])


@triton.jit
def strip(A, B, C, M, N, K, SIDE: tl.constexpr, TILES: tl.constexpr, DEEP: tl.constexpr):
    across = tl.cdiv(N, SIDE * TILES)
    i = (tl.program_id(0) // across).to(tl.int64) * SIDE + tl.arange(0, SIDE)
    first = (tl.program_id(0) % across).to(tl.int64) * SIDE * TILES
    zero = tl.zeros((SIDE, SIDE), tl.float32)
    s0, s1, s2, s3 = zero, zero, zero, zero
    for start in range(0, K, DEEP):
        q = (start + tl.arange(0, DEEP)).to(tl.int64)
        a = tl.load(A + i[:, None] * K + q[None, :], mask=(i < M)[:, None] & (q < K)[None, :], other=0.0)
        s0 = tl.dot(a, tile_of_b(B, q, first, N, K, SIDE), s0)
        if TILES > 1:
            s1 = tl.dot(a, tile_of_b(B, q, first + SIDE, N, K, SIDE), s1)
        if TILES > 2:
            s2 = tl.dot(a, tile_of_b(B, q, first + 2 * SIDE, N, K, SIDE), s2)
            s3 = tl.dot(a, tile_of_b(B, q, first + 3 * SIDE, N, K, SIDE), s3)
    put(C, s0, i, first, M, N, SIDE)
    if TILES > 1:
        put(C, s1, i, first + SIDE, M, N, SIDE)
    if TILES > 2:
        put(C, s2, i, first + 2 * SIDE, M, N, SIDE)
        put(C, s3, i, first + 3 * SIDE, M, N, SIDE)


def matmul_coarse(a, b, block, coarse):
    (M, K), N = a.shape, b.shape[1]
    c = a.new_empty(M, N)
    grid = (triton.cdiv(M, block) * triton.cdiv(N, block * coarse),)
    warps = 8 if block == 128 else 4
    strip[grid](a, b, c, M, N, K, SIDE=block, TILES=coarse, DEEP=64 if block < 128 else 32, num_warps=warps)
    return c
