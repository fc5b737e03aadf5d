"""Sampling as it is done for few rows: a program for each part of a row, and a second launch for the best."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

BELOW_1 = tl.constexpr(0.999999940395355)  # the largest fp32 below 1


@triton.jit
def best_of_part(logits_ptr, score_ptr, where_ptr, v, parts, stride, temperature, seed, BLOCK: tl.constexpr):
    """The largest logit / temperature + noise among BLOCK columns of one row, and its column."""
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    cols = part * BLOCK + tl.arange(0, BLOCK)
    inside = cols < v
    logit = tl.load(logits_ptr + row * stride + cols, mask=inside, other=0.0).to(tl.float32)
    # One run of Philox a column, at a place of its own; moved away from both ends of [0, 1].
    u = tl.maximum(tl.minimum(tl.rand(seed, row * v + cols), BELOW_1), 1e-20)
    score = logit
    if temperature > 0:
        score -= temperature * tl.log(-tl.log(u))
    score = tl.where(inside, score, -float("inf"))
    # NaN cannot be: neither log is infinite.
    tl.store(score_ptr + row * parts + part, tl.max(score, axis=0))
    tl.store(where_ptr + row * parts + part, part * BLOCK + tl.argmax(score, axis=0))


@triton.jit
def best_of_row(score_ptr, where_ptr, ids_ptr, parts, PARTS: tl.constexpr):
    """The first of the largest parts of a row."""
    row = tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, PARTS)
    score = tl.load(score_ptr + row * parts + offs, mask=offs < parts, other=-float("inf"))
    first = tl.argmax(score, axis=0)
    tl.store(ids_ptr + row, tl.load(where_ptr + row * parts + first).to(tl.int64))


def sample(logits: torch.Tensor, temperature: float, seed: int) -> torch.Tensor:
    """Return an id for each row of logits[m, v], drawn from softmax(logits / temperature); int64."""
    m, v = logits.shape
    BLOCK = min(triton.next_power_of_2(v), 1024)
    parts = triton.cdiv(v, BLOCK)
    score = torch.empty(m, parts, dtype=torch.float32, device=logits.device)
    where = torch.empty(m, parts, dtype=torch.int32, device=logits.device)
    ids = torch.empty(m, dtype=torch.int64, device=logits.device)
    stride = logits.stride(0)
    best_of_part[(m, parts)](logits, score, where, v, parts, stride, temperature, seed, BLOCK=BLOCK)
    best_of_row[(m,)](score, where, ids, parts, PARTS=triton.next_power_of_2(parts), num_warps=1)
    return ids
