"""A fixed number of programs takes tiles in turn; four steps of the units share a sum."""

import torch
import triton
import triton.language as tl


@triton.jit
def tiles_in_turn(
    a_ptr, b_ptr, c_ptr, sa_ptr, sb_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), down * across, tl.num_programs(0)):
        # Squares of tiles, 8 high, so that programs at work together share what they read.
        first = tile // (8 * across) * 8
        high = min(down - first, 8)
        rm = (first + tile % (8 * across) % high).to(tl.int64) * BM + tl.arange(0, BM)
        rn = (tile % (8 * across) // high).to(tl.int64) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), tl.float32)
        for step in range(tl.cdiv(K, BK)):
            rk = step * BK + tl.arange(0, BK)
            a = tl.load(
                a_ptr + rm[:, None] * K + rk[None, :], mask=(rm < M)[:, None] & (rk < K)[None, :], other=0.0
            )
            b = tl.load(
                b_ptr + rn[None, :] * K + rk[:, None], mask=(rn < N)[None, :] & (rk < K)[:, None], other=0.0
            )
            acc = tl.dot(a, b, acc=acc, max_num_imprecise_acc=128)
        acc *= tl.load(sa_ptr + rm, mask=rm < M, other=0.0)[:, None]
        acc *= tl.load(sb_ptr + rn, mask=rn < N, other=0.0)[None, :]
        tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm < M)[:, None] & (rn < N)[None, :])


def fp8_matmul(a, b, a_scale, b_scale):
    (M, K), N = a.shape, b.shape[0]
    c = torch.empty((M, N), dtype=torch.bfloat16, device=a.device)
    programs = torch.cuda.get_device_properties(a.device).multi_processor_count if a.is_cuda else 3
    tiles = triton.cdiv(M, 128) * triton.cdiv(N, 128)
    tiles_in_turn[(min(tiles, programs),)](
        a, b, c, a_scale, b_scale, M, N, K, BM=128, BN=128, BK=128, num_warps=8, num_stages=4
    )
    return c
