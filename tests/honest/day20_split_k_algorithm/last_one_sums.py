"""Serial split K as in CUTLASS: parts in a workspace, a counter a tile, and who comes last sums."""

import torch
import triton
import triton.language as tl


@triton.jit
def splitk_kernel(
    a_ptr, b_ptr, c_ptr, parts_ptr, counter_ptr, M, N, K, sam, sak, sbk, sbn, share,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLITS: tl.constexpr,
):  # fmt: skip
    rm = (tl.program_id(0) * BM + tl.arange(0, BM)).to(tl.int64)
    rn = (tl.program_id(1) * BN + tl.arange(0, BN)).to(tl.int64)
    low = tl.program_id(2) * share
    high = tl.minimum(K, low + share)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(low, high, BK):
        rk = (k + tl.arange(0, BK)).to(tl.int64)
        a_ptrs = a_ptr + rm[:, None] * sam + rk[None, :] * sak
        b_ptrs = b_ptr + rk[:, None] * sbk + rn[None, :] * sbn
        a = tl.load(a_ptrs, mask=(rm < M)[:, None] & (rk < high)[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=(rk < high)[:, None] & (rn < N)[None, :], other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tile = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    inner = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    parts = parts_ptr + tile * (SPLITS * BM * BN) + inner
    tl.store(parts + tl.program_id(2) * (BM * BN), acc)
    tl.debug_barrier()
    arrived = tl.atomic_add(counter_ptr + tile, 1, sem="acq_rel", scope="gpu")
    if arrived == SPLITS - 1:
        out = tl.zeros((BM, BN), tl.float32)
        for split in range(SPLITS):
            out += tl.load(parts + split * (BM * BN), cache_modifier=".cv")
        c = c_ptr + rm[:, None] * N + rn[None, :]
        tl.store(c, out.to(c_ptr.dtype.element_ty), mask=(rm < M)[:, None] & (rn < N)[None, :])


def matmul_split_k(a, b):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)
    if M == 0 or N == 0:
        return c
    BM, BN, BK = 64, 64, 32 if a.dtype == torch.float32 else 64
    rows, cols = triton.cdiv(M, BM), triton.cdiv(N, BN)
    splits = max(1, min(32, 264 // (rows * cols), triton.cdiv(K, 4 * BK)))
    share = triton.cdiv(triton.cdiv(K, splits), BK) * BK
    parts = torch.empty((rows * cols, splits, BM, BN), device=a.device, dtype=torch.float32)
    counter = torch.zeros(rows * cols, device=a.device, dtype=torch.int32)
    splitk_kernel[(rows, cols, splits)](
        a, b, c, parts, counter, M, N, K, *a.stride(), *b.stride(), share,
        BM=BM, BN=BN, BK=BK, SPLITS=splits, num_warps=4, num_stages=4,
    )  # fmt: skip
    return c
