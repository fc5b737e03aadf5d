"""Softmax stored in fp32, its running sum stored, and then a search for where it passes u."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(logits_ptr, p_ptr, n_cols, stride_m, temperature, BLOCK_N: tl.constexpr):
    """exp((x - max) / temperature) of one row; 1 at the first largest where the temperature is 0."""
    row = tl.program_id(0).to(tl.int64)
    top = -float("inf")
    for start in range(0, n_cols, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        x = tl.load(logits_ptr + row * stride_m + cols, mask=cols < n_cols, other=-float("inf"))
        top = tl.maximum(top, tl.max(x.to(tl.float32), axis=0))
    for start in range(0, n_cols, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        x = tl.load(logits_ptr + row * stride_m + cols, mask=cols < n_cols, other=-float("inf"))
        x = x.to(tl.float32)
        p = tl.where(x == top, 1.0, 0.0)
        if temperature > 0:
            p = tl.exp((x - top) / temperature)
        tl.store(p_ptr + row * n_cols + cols, p, mask=cols < n_cols)


@triton.jit
def sum_kernel(p_ptr, sum_ptr, n_cols, BLOCK_N: tl.constexpr):
    """The running sum of one row."""
    row = tl.program_id(0).to(tl.int64)
    total = 0.0
    for start in range(0, n_cols, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        p = tl.load(p_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
        tl.store(sum_ptr + row * n_cols + cols, total + tl.cumsum(p, axis=0), mask=cols < n_cols)
        total += tl.sum(p, axis=0)


@triton.jit
def search_kernel(logits_ptr, sum_ptr, ids_ptr, n_cols, stride_m, temperature, seed, BLOCK_N: tl.constexpr):
    """The first column whose running sum is above u times the whole, and whose logit is not -inf."""
    row = tl.program_id(0).to(tl.int64)
    u = tl.rand(seed, row)
    if temperature == 0:
        u = u * 0.0
    goal = u * tl.load(sum_ptr + row * n_cols + n_cols - 1)
    winner = n_cols
    for start in range(0, n_cols, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        x = tl.load(logits_ptr + row * stride_m + cols, mask=cols < n_cols, other=-float("inf"))
        sums = tl.load(sum_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
        above = (sums > goal) & (x > -float("inf"))
        winner = tl.minimum(winner, tl.min(tl.where(above, cols, n_cols), axis=0))
    tl.store(ids_ptr + row, winner.to(tl.int64))


def sample(logits: torch.Tensor, temperature: float, seed: int) -> torch.Tensor:
    """Return an id for each row of logits[m, v], drawn from softmax(logits / temperature); int64."""
    m, v = logits.shape
    p = torch.empty(m, v, dtype=torch.float32, device=logits.device)
    sums = torch.empty_like(p)
    ids = torch.empty(m, dtype=torch.int64, device=logits.device)
    BLOCK_N = min(triton.next_power_of_2(v), 4096)
    softmax_kernel[(m,)](logits, p, v, logits.stride(0), temperature, BLOCK_N=BLOCK_N)
    sum_kernel[(m,)](p, sums, v, BLOCK_N=BLOCK_N)
    search_kernel[(m,)](logits, sums, ids, v, logits.stride(0), temperature, seed, BLOCK_N=BLOCK_N)
    return ids
