"""Extra: a token drawn for each row, by adding noise to its logits and taking the largest sum."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def sample_kernel(logits_ptr, ids_ptr, n_cols, stride_m, temperature, seed, BLOCK_N: tl.constexpr):
    """Draw the id of one row: where logit + temperature * Gumbel noise is largest."""
    # TODO 1: which row is it, and which random numbers are its own?
    # TODO 2: walk along it: add noise to each logit, and keep the largest sum and where it was.
    # TODO 3: of what the lanes kept the largest wins, of equal ones the first column; store its id.


def sample(logits: torch.Tensor, temperature: float, seed: int) -> torch.Tensor:
    """Return an id for each row of logits[m, v], drawn from softmax(logits / temperature); int64.

    Rows may be any distance apart; a temperature of 0 takes the largest logit, the first of equals.
    """
    ids = torch.empty(len(logits), dtype=torch.int64, device=logits.device)
    # TODO 4: choose a BLOCK_N, and launch a program for each row.
    return ids
