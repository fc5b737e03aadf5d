"""Sampling as a race: id j arrives after an exponential time over its weight, and the first wins."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def race_kernel(logits_ptr, ids_ptr, v, stride, rate, SHARP: tl.constexpr, seed, BLOCK: tl.constexpr):
    """The least log(-log u) - logit / temperature; the largest logit without noise where SHARP."""
    row = tl.program_id(0)
    least = float("inf")
    winner = 0
    for start in range(0, v, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row.to(tl.int64) * stride + cols, mask=cols < v, other=-float("inf"))
        x = x.to(tl.float32)
        if SHARP:
            late = -x
        else:
            # 24 bits of a random integer, and a half: never 0 and never 1. Two words of the counter: the
            # row's number is the upper one.
            bits, _, _, _ = tl.philox(seed, cols.to(tl.uint32), row.to(tl.uint32), tl.zeros_like(cols), 0)
            u = ((bits >> 9).to(tl.float32) + 0.5) * 1.1920929e-07
            late = tl.log(-tl.log(u)) - x * rate
        first = tl.min(late, axis=0)
        if first < least:
            least = first
            winner = start + tl.argmin(late, axis=0)
    tl.store(ids_ptr + row, winner)


def sample(logits: torch.Tensor, temperature: float, seed: int) -> torch.Tensor:
    """Return an id for each row of logits[m, v], drawn from softmax(logits / temperature); int64."""
    m, v = logits.shape
    ids = torch.empty(m, dtype=torch.int64, device=logits.device)
    sharp = temperature == 0
    rate = 0.0 if sharp else 1 / temperature
    BLOCK = min(max(triton.next_power_of_2(v), 32), 2048)
    race_kernel[(m,)](logits, ids, v, logits.stride(0), rate, sharp, seed, BLOCK=BLOCK, num_warps=8)
    return ids
