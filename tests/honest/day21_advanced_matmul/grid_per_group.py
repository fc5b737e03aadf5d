"""A grid axis for the groups, tall enough for the largest there could be; programs without rows leave."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    X, W, Y, SIZES, N, K, sxm, sxk, swe, swk, swn, sym, syn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, E: tl.constexpr, SPAN: tl.constexpr,
):  # fmt: skip
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    block = tl.program_id(1)
    g = tl.program_id(2)
    lanes = tl.arange(0, SPAN)
    sizes = tl.load(SIZES + lanes, mask=lanes < E, other=0)
    begin = tl.sum(tl.where(lanes < g, sizes, 0))
    end = begin + tl.load(SIZES + g)
    if begin + block * BM < end:
        rows = begin + block * BM + tl.arange(0, BM)
        ks = tl.arange(0, BK)
        w_base = W + g.to(tl.int64) * swe
        acc = tl.zeros((BM, BN), tl.float32)
        for k0 in range(0, K, BK):
            ok = k0 + ks < K
            x = tl.load(
                X + rows[:, None].to(tl.int64) * sxm + (k0 + ks)[None, :] * sxk,
                mask=(rows < end)[:, None] & ok[None, :],
                other=0.0,
            )
            w = tl.load(
                w_base + (k0 + ks)[:, None] * swk + cols[None, :] * swn,
                mask=ok[:, None] & (cols < N)[None, :],
                other=0.0,
            )
            acc += tl.dot(x, w, input_precision="ieee")
        y = Y + rows[:, None].to(tl.int64) * sym + cols[None, :] * syn
        tl.store(y, acc.to(Y.dtype.element_ty), mask=(rows < end)[:, None] & (cols < N)[None, :])


def grouped_matmul(x: torch.Tensor, w: torch.Tensor, group_sizes: torch.Tensor) -> torch.Tensor:
    (T, K), (E, _, N) = x.shape, w.shape
    y = x.new_empty((T, N))
    wide = x.dtype != torch.float32
    BM, BN, BK = (128, 128, 64) if wide else (32, 64, 32)
    grid = (triton.cdiv(N, BN), triton.cdiv(T, BM), E)
    if T:
        kernel[grid](
            x, w, y, group_sizes, N, K, *x.stride(), *w.stride(), *y.stride(),
            BM=BM, BN=BN, BK=BK, E=E, SPAN=triton.next_power_of_2(E),
            num_warps=8 if wide else 4, num_stages=3,
        )  # fmt: skip
    return y
