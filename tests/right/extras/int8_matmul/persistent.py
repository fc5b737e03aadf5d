"""A fixed number of programs takes tiles in turn; the column sums of b are a dot with ones."""

import torch
import triton
import triton.language as tl


@triton.jit
def tiles_in_turn(
    a_ptr, b_ptr, c_ptr, sa_ptr, sb_ptr, z_ptr, M, N, K, sam, sak, sbk, sbn,
    HAS_ZERO: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), down * across, tl.num_programs(0)):
        # Squares of tiles, 8 high, so that programs at work together share what they read.
        first = tile // (8 * across) * 8
        high = min(down - first, 8)
        rm = (first + tile % (8 * across) % high).to(tl.int64) * BM + tl.arange(0, BM)
        rn = (tile % (8 * across) // high).to(tl.int64) * BN + tl.arange(0, BN)
        rk = tl.arange(0, BK).to(tl.int64)
        acc = tl.zeros((BM, BN), tl.int32)
        ones = tl.full((16, BK), 1, tl.int8)
        sums = tl.zeros((16, BN), tl.int32)
        for k in range(0, tl.cdiv(K, BK)):
            inner = k * BK + rk < K
            a = tl.load(a_ptr + rm[:, None] * sam + (k * BK + rk)[None, :] * sak,
                        mask=(rm < M)[:, None] & inner[None, :], other=0)  # fmt: skip
            b = tl.load(b_ptr + (k * BK + rk)[:, None] * sbk + rn[None, :] * sbn,
                        mask=inner[:, None] & (rn < N)[None, :], other=0)  # fmt: skip
            acc = tl.dot(a, b, acc=acc, out_dtype=tl.int32)
            if HAS_ZERO:
                sums = tl.dot(ones, b, acc=sums, out_dtype=tl.int32)
        if HAS_ZERO:
            zero = tl.load(z_ptr + rm, mask=rm < M, other=0)
            acc -= zero[:, None] * tl.max(sums, axis=0)[None, :]
        c = acc * tl.load(sa_ptr + rm, mask=rm < M, other=0.0)[:, None]
        c *= tl.load(sb_ptr + rn, mask=rn < N, other=0.0)[None, :]
        tl.store(c_ptr + rm[:, None] * N + rn[None, :], c, mask=(rm < M)[:, None] & (rn < N)[None, :])


def int8_matmul(a, b, a_scale, b_scale, a_zero):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), device=a.device)
    BM, BN = 128, 256
    programs = 2
    if a.is_cuda:
        programs = torch.cuda.get_device_properties(a.device).multi_processor_count
    tiles = triton.cdiv(M, BM) * triton.cdiv(N, BN)
    tiles_in_turn[(min(tiles, programs),)](
        a, b, c, a_scale, b_scale, a_zero, M, N, K, *a.stride(), *b.stride(),
        HAS_ZERO=a_zero is not None, BM=BM, BN=BN, BK=128, num_warps=8,
    )  # fmt: skip
    return c
