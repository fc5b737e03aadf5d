"""Sampling as a race: id j arrives after an exponential time over its weight, and the first wins."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def race_kernel(logits_ptr, ids_ptr, v, stride, rate, SHARP: tl.constexpr, seed, QUARTER: tl.constexpr):
    """The least log(-log u) - logit / temperature; the largest logit without noise where SHARP."""
    row = tl.program_id(0)
    logits_ptr += row.to(tl.int64) * stride
    lane = tl.arange(0, QUARTER)
    least = tl.full((QUARTER,), float("inf"), tl.float32)
    winner = tl.zeros((QUARTER,), tl.int32)
    for start in range(0, v, 4 * QUARTER):
        # Two words of the counter: the row's number is the upper one. Its four integers are for four columns
        # a QUARTER apart.
        low = (start // 4 + lane).to(tl.uint32)
        bits = tl.philox(seed, low, row.to(tl.uint32), tl.zeros_like(low), 0)
        for part in tl.static_range(4):
            cols = start + part * QUARTER + lane
            x = tl.load(logits_ptr + cols, mask=cols < v, other=-float("inf")).to(tl.float32)
            late = -x
            if not SHARP:
                # 23 bits of a random integer, and a half: never 0 and never 1.
                u = ((bits[part] >> 9).to(tl.float32) + 0.5) * 1.1920929e-07
                late = tl.log(-tl.log(u)) - x * rate
            winner = tl.where(late < least, cols, winner)
            least = tl.minimum(late, least)
    first = tl.where(least == tl.min(least, axis=0), winner, v)
    tl.store(ids_ptr + row, tl.min(first, axis=0))


def sample(logits: torch.Tensor, temperature: float, seed: int) -> torch.Tensor:
    """Return an id for each row of logits[m, v], drawn from softmax(logits / temperature); int64."""
    m, v = logits.shape
    ids = torch.empty(m, dtype=torch.int64, device=logits.device)
    sharp = temperature == 0
    rate = 0.0 if sharp else 1 / temperature
    QUARTER = min(max(triton.next_power_of_2(v) // 4, 32), 1024)
    race_kernel[(m,)](logits, ids, v, logits.stride(0), rate, sharp, seed, QUARTER=QUARTER, num_warps=8)
    return ids
