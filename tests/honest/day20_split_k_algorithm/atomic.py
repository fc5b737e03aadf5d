"""Contiguous shares of K, added up by fp32 atomics in a zeroed accumulator that a last kernel rounds."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_share(
    A, B, C, M, N, K, share, sam, sak, sbk, sbn, scm, scn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    tiles_n = tl.cdiv(N, BN)
    rows = (tile // tiles_n).to(tl.int64) * BM + tl.arange(0, BM)
    cols = (tile % tiles_n).to(tl.int64) * BN + tl.arange(0, BN)
    begin = tl.program_id(1) * share
    end = tl.minimum(begin + share, K)
    acc = tl.zeros((BM, BN), tl.float32)
    k0 = begin
    while k0 < end:
        ks = (k0 + tl.arange(0, BK)).to(tl.int64)
        a = tl.load(
            A + rows[:, None] * sam + ks[None, :] * sak,
            mask=(rows < M)[:, None] & (ks < end)[None, :],
            other=0.0,
        )
        b = tl.load(
            B + ks[:, None] * sbk + cols[None, :] * sbn,
            mask=(ks < end)[:, None] & (cols < N)[None, :],
            other=0.0,
        )
        acc += tl.dot(a, b, input_precision="ieee")
        k0 += BK
    where = C + rows[:, None] * scm + cols[None, :] * scn
    tl.atomic_add(where, acc, mask=(rows < M)[:, None] & (cols < N)[None, :], sem="relaxed")


@triton.jit
def cast(src, dst, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dst + i, tl.load(src + i, mask=i < count).to(dst.dtype.element_ty), mask=i < count)


def matmul_split_k(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    (M, K), N = a.shape, b.shape[1]
    total = torch.zeros((M, N), dtype=torch.float32, device=a.device)
    BM = BN = 64
    BK = 64
    tiles = triton.cdiv(M, BM) * triton.cdiv(N, BN)
    # 24 shares at the most, each a whole number of blocks; the last one may be shorter, or none at all.
    share = triton.cdiv(triton.cdiv(K, 24), BK) * BK
    if tiles and K:
        add_share[(tiles, triton.cdiv(K, share))](
            a, b, total, M, N, K, share, *a.stride(), *b.stride(), *total.stride(), BM=BM, BN=BN, BK=BK
        )
    if a.dtype is torch.float32 and tiles and K:
        return total
    out = a.new_empty((M, N))
    cast[(triton.cdiv(M * N, 1024),)](total, out, M * N, BLOCK=1024)
    return out
