"""Reservoir sampling: who comes replaces who is there, as often as their weights say; no logarithm."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)
LOWEST = tl.constexpr(torch.finfo(torch.float32).min)
HUGE = tl.constexpr(3e38)


@triton.jit
def uniform(seed, first, BLOCK_N: tl.constexpr):
    """BLOCK_N numbers in (0, 1), four from a run of Philox."""
    u0, u1, u2, u3 = tl.rand4x(seed, first + tl.arange(0, BLOCK_N // 4))
    return tl.maximum(tl.interleave(tl.interleave(u0, u2), tl.interleave(u1, u3)), 1e-10)


@triton.jit
def sample_kernel(logits_ptr, ids_ptr, n_cols, stride_m, temperature, seed, BLOCK_N: tl.constexpr):
    """Draw the id of one row: in each lane from its own columns, and then among the lanes."""
    row = tl.program_id(0).to(tl.int64)
    # A block of counters a row more than its columns need, for the last draw.
    first = row * (tl.cdiv(n_cols, BLOCK_N) + 1) * (BLOCK_N // 4)
    top = tl.full((BLOCK_N,), LOWEST, tl.float32)
    total = tl.zeros((BLOCK_N,), tl.float32)
    ids = tl.zeros((BLOCK_N,), tl.int32)
    rate = LOG2_E / temperature if temperature > 0 else HUGE
    for start in range(0, n_cols, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        x = tl.load(logits_ptr + row * stride_m + cols, mask=cols < n_cols, other=-float("inf"))
        u = uniform(seed, first + start // 4, BLOCK_N)
        # Without noise a half and more: a larger logit is taken, an equal one is not.
        u = tl.where(temperature > 0, u, 0.75)
        # Each lane draws for itself: total is the weight of all it saw, in units of its largest logit's.
        ahead = (x.to(tl.float32) - top) * rate
        ratio = tl.exp2(-tl.abs(ahead))
        weight = tl.where(ahead > 0, 1.0, ratio)
        total = total * tl.where(ahead > 0, ratio, 1.0) + weight
        # The new one stays with probability weight / total: no logarithm, and no division.
        ids = tl.where(u * total < weight, cols, ids)
        top = tl.maximum(x.to(tl.float32), top)
    # Among the lanes by Gumbel noise: BLOCK_N logarithms a row, and not one for each logit.
    u = uniform(seed, first + tl.cdiv(n_cols, BLOCK_N) * BLOCK_N // 4, BLOCK_N)
    score = top + temperature * (tl.log(tl.maximum(total, 1e-30)) - tl.log(tl.maximum(-tl.log(u), 1e-8)))
    # Of equal lanes the lowest column.
    winner = tl.min(tl.where(score == tl.max(score, axis=0), ids, n_cols), axis=0)
    tl.store(ids_ptr + row, winner.to(tl.int64))


def sample(logits: torch.Tensor, temperature: float, seed: int) -> torch.Tensor:
    """Return an id for each row of logits[m, v], drawn from softmax(logits / temperature); int64.

    Rows may be any distance apart; a temperature of 0 takes the largest logit, the first of equals.
    """
    ids = torch.empty(len(logits), dtype=torch.int64, device=logits.device)
    n_rows, n_cols = logits.shape
    BLOCK_N = min(max(triton.next_power_of_2(n_cols), 16), 4096)
    sample_kernel[(n_rows,)](
        logits,
        ids,
        n_cols,
        logits.stride(0),
        temperature,
        seed,
        BLOCK_N=BLOCK_N,
        num_warps=max(min(BLOCK_N // 256, 8), 1),
    )
    return ids
