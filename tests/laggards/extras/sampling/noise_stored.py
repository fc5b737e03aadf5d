"""The noise of every logit is stored by a kernel of its own, and read again beside it."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def noise_kernel(noise_ptr, n, seed, BLOCK: tl.constexpr):
    """Gumbel noise, n numbers of it."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    wait = tl.minimum(tl.maximum(-tl.log(tl.rand(seed, offs)), 1e-8), 100.0)
    tl.store(noise_ptr + offs, -tl.log(wait), mask=offs < n)


@triton.jit
def sample_kernel(logits_ptr, noise_ptr, ids_ptr, n_cols, stride_m, temperature, BLOCK_N: tl.constexpr):
    """Draw the id of one row: where logit + temperature * noise is largest."""
    row = tl.program_id(0).to(tl.int64)
    best = tl.full((BLOCK_N,), -float("inf"), tl.float32)
    ids = tl.zeros((BLOCK_N,), tl.int32)
    for start in range(0, n_cols, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        x = tl.load(logits_ptr + row * stride_m + cols, mask=cols < n_cols, other=-float("inf"))
        noise = tl.load(noise_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
        score = x.to(tl.float32) + temperature * noise
        ids = tl.where(score > best, cols, ids)
        best = tl.maximum(score, best)
    winner = tl.min(tl.where(best == tl.max(best, axis=0), ids, n_cols), axis=0)
    tl.store(ids_ptr + row, winner.to(tl.int64))


def sample(logits: torch.Tensor, temperature: float, seed: int) -> torch.Tensor:
    """Return an id for each row of logits[m, v], drawn from softmax(logits / temperature); int64."""
    m, v = logits.shape
    noise = torch.empty(m, v, dtype=torch.float32, device=logits.device)
    ids = torch.empty(m, dtype=torch.int64, device=logits.device)
    noise_kernel[(triton.cdiv(m * v, 1024),)](noise, m * v, seed, BLOCK=1024)
    BLOCK_N = min(max(triton.next_power_of_2(v), 16), 4096)
    sample_kernel[(m,)](logits, noise, ids, v, logits.stride(0), temperature, BLOCK_N=BLOCK_N)
    return ids
