"""Wide softmax in one tile or with running lanes, peeled last tiles, heuristics; a program a row, int32.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def prev_multiple_of(a, b):
    return tl.cdiv(a, b) * b - b


@triton.heuristics(
    {
        "TILE_N": lambda args: min(triton.next_power_of_2(args["N"]), 8192),
        "ONE_TILE_PER_CTA": lambda args: args["N"] <= 8192,
        "num_warps": lambda args: 4 if args["N"] < 1024 else 8 if args["N"] < 4096 else 16,
    }
)
@triton.jit
def softmax_kernel_inner(
    output_ptr, input_ptr, N, stride_m, TILE_N: tl.constexpr, ONE_TILE_PER_CTA: tl.constexpr
):
    pid_m = tl.program_id(0)
    input_ptr += pid_m * stride_m
    output_ptr += pid_m * N
    if ONE_TILE_PER_CTA:
        n_offsets = tl.arange(0, TILE_N)
        mask = n_offsets < N
        inp = tl.load(input_ptr + n_offsets, mask=mask, other=-float("inf")).to(tl.float32)
        e = tl.exp(inp - tl.max(inp, 0))
        tl.store(output_ptr + n_offsets, e / tl.sum(e, 0), mask=mask)
    else:
        m = tl.full([TILE_N], value=-3.4028234663852886e38, dtype=tl.float32)
        z = tl.full([TILE_N], value=0.0, dtype=tl.float32)
        last = prev_multiple_of(N, TILE_N)
        for start_n in range(0, last, TILE_N):
            inp = tl.load(input_ptr + start_n + tl.arange(0, TILE_N)).to(tl.float32)
            m_new = tl.maximum(m, inp)
            z = z * tl.exp(m - m_new) + tl.exp(inp - m_new)
            m = m_new
        n_offsets = last + tl.arange(0, TILE_N)
        mask = n_offsets < N
        inp = tl.load(input_ptr + n_offsets, mask=mask, other=-float("inf")).to(tl.float32)
        m_new = tl.maximum(m, inp)
        z = z * tl.exp(m - m_new) + tl.exp(inp - m_new)
        m = tl.max(m_new, 0)
        z = tl.sum(z * tl.exp(m_new - m), 0)
        # the tile at hand first, then back to the start of the row
        tl.store(output_ptr + n_offsets, tl.exp(inp - m) / z, mask=mask)
        for start_n in range(TILE_N, last + TILE_N, TILE_N):
            n_offsets = last - start_n + tl.arange(0, TILE_N)
            inp = tl.load(input_ptr + n_offsets, eviction_policy="evict_first").to(tl.float32)
            tl.store(output_ptr + n_offsets, tl.exp(inp - m) / z)


def softmax(x):
    M, N = x.shape
    out = torch.empty((M, N), dtype=x.dtype, device=x.device)
    softmax_kernel_inner[(M, 1, 1)](out, x, N, x.stride(0))
    return out
