"""Logsumexp with one tile a program where rows fit, else an online loop; heuristics, 2-D tiles, int32.

May have limits.
"""

import torch
import triton
import triton.language as tl


def heur_tile_n(args):
    return min(triton.next_power_of_2(args["N"]), 8192)


@triton.heuristics(
    {
        "TILE_N": heur_tile_n,
        "TILE_M": lambda args: max(4096 // triton.next_power_of_2(args["N"]), 1),
        "ONE_TILE": lambda args: args["N"] <= 8192,
        "num_warps": lambda args: 8 if args["N"] > 2048 else 4,
    }
)
@triton.jit
def logsumexp_kernel(
    out_ptr, in_ptr, M, N, stride_m, TILE_M: tl.constexpr, TILE_N: tl.constexpr, ONE_TILE: tl.constexpr
):
    m_offsets = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    row_mask = m_offsets[:, None] < M
    in_ptr += m_offsets[:, None] * stride_m
    if ONE_TILE:
        n_offsets = tl.arange(0, TILE_N)[None, :]
        inp = tl.load(in_ptr + n_offsets, mask=row_mask & (n_offsets < N), other=-float("inf")).to(tl.float32)
        m = tl.max(inp, axis=1)
        m = tl.where(tl.abs(m) == float("inf"), 0.0, m)
        z = tl.sum(tl.exp(inp - m[:, None]), axis=1)
    else:
        mx = tl.full((TILE_M, TILE_N), -3.4028234663852886e38, dtype=tl.float32)
        acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
        for start in range(0, N, TILE_N):
            n_offsets = start + tl.arange(0, TILE_N)[None, :]
            inp = tl.load(in_ptr + n_offsets, mask=row_mask & (n_offsets < N), other=-float("inf")).to(
                tl.float32
            )
            m_new = tl.minimum(tl.maximum(mx, inp), 3.4028234663852886e38)
            acc = acc * tl.exp(mx - m_new) + tl.exp(inp - m_new)
            mx = m_new
        m = tl.max(mx, axis=1)
        z = tl.sum(acc * tl.exp(mx - m[:, None]), axis=1)
    tl.store(out_ptr + m_offsets, m + tl.log(z), mask=m_offsets < M)


def logsumexp(x):
    M, N = x.shape
    out = torch.empty(M, device=x.device, dtype=torch.float32)
    grid = lambda meta: (triton.cdiv(M, meta["TILE_M"]),)  # noqa: E731
    logsumexp_kernel[grid](out, x, M, N, x.stride(0))
    return out
