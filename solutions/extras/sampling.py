"""Extra: a token drawn for each row, by adding noise to its logits and taking the largest sum."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def sample_kernel(logits_ptr, ids_ptr, n_cols, stride_m, temperature, seed, BLOCK_N: tl.constexpr):
    """Draw the id of one row: where logit + temperature * Gumbel noise is largest."""
    # 64 bits: a row may start 2**31 elements or more after the first one, and needs numbers of its own.
    row = tl.program_id(0).to(tl.int64)
    # A run of Philox gives four numbers: counter c serves columns 4c .. 4c + 3 of the row's own counters.
    first = row * tl.cdiv(n_cols, 4)
    best = tl.full((BLOCK_N,), -float("inf"), tl.float32)
    ids = tl.zeros((BLOCK_N,), tl.int32)
    # The only read: 4 bytes an element in fp32. The noise moves none, and nothing is normalised.
    for start in range(0, n_cols, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        x = tl.load(logits_ptr + row * stride_m + cols, mask=cols < n_cols, other=-float("inf"))
        u0, u1, u2, u3 = tl.rand4x(seed, first + start // 4 + tl.arange(0, BLOCK_N // 4))
        u = tl.interleave(tl.interleave(u0, u2), tl.interleave(u1, u3))
        # u may be 0, and log2 of a number just below 1 may be rounded to 0: either log would be infinite.
        wait = tl.minimum(tl.maximum(-tl.log(u), 1e-8), 100.0)
        # Noise times the temperature, not logits over it: a temperature of 0 is no case of its own.
        score = x.to(tl.float32) - temperature * tl.log(wait)
        # Each lane keeps its own best, the first of equals: no barrier in the loop.
        ids = tl.where(score > best, cols, ids)
        best = tl.maximum(score, best)
    # Of equal lanes the lowest column.
    winner = tl.min(tl.where(best == tl.max(best, axis=0), ids, n_cols), axis=0)
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
