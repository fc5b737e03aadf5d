"""Sampling as it is done for few rows: a program for each part of a row, and a second launch for the best."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

BELOW_1 = tl.constexpr(0.999999940395355)  # the largest fp32 below 1


@triton.jit
def noisy(row_ptr, cols, v, u, temperature):
    """logit + temperature * noise of some columns; -inf past the last one."""
    logit = tl.load(row_ptr + cols, mask=cols < v, other=0.0).to(tl.float32)
    # Away from both ends of [0, 1]: NaN cannot be, neither log is infinite.
    u = tl.maximum(tl.minimum(u, BELOW_1), 1e-20)
    return tl.where(cols < v, logit - temperature * tl.log(-tl.log(u)), -float("inf"))


@triton.jit
def best_of_part(
    logits_ptr, score_ptr, where_ptr, v, parts, stride, temperature, seed, QUARTER: tl.constexpr
):
    """The largest logit + temperature * noise among 4 * QUARTER columns of one row, and its column."""
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    logits_ptr += row * stride
    place = row * parts + part
    c0 = part * (4 * QUARTER) + tl.arange(0, QUARTER)
    c1, c2, c3 = c0 + QUARTER, c0 + 2 * QUARTER, c0 + 3 * QUARTER
    # One number of a run of Philox for each quarter.
    u0, u1, u2, u3 = tl.rand4x(seed, place * QUARTER + tl.arange(0, QUARTER))
    s0 = noisy(logits_ptr, c0, v, u0, temperature)
    s1 = noisy(logits_ptr, c1, v, u1, temperature)
    s2 = noisy(logits_ptr, c2, v, u2, temperature)
    s3 = noisy(logits_ptr, c3, v, u3, temperature)
    top = tl.max(tl.maximum(tl.maximum(s0, s1), tl.maximum(s2, s3)), axis=0)
    first = tl.where(s0 == top, c0, tl.where(s1 == top, c1, tl.where(s2 == top, c2, c3)))
    lanes = tl.maximum(tl.maximum(s0, s1), tl.maximum(s2, s3)) == top
    tl.store(score_ptr + place, top)
    tl.store(where_ptr + place, tl.min(tl.where(lanes, first, v), axis=0))


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
    BLOCK = min(max(triton.next_power_of_2(v), 16), 2048)
    parts = triton.cdiv(v, BLOCK)
    score = torch.empty(m, parts, dtype=torch.float32, device=logits.device)
    where = torch.empty(m, parts, dtype=torch.int32, device=logits.device)
    ids = torch.empty(m, dtype=torch.int64, device=logits.device)
    stride = logits.stride(0)
    best_of_part[(m, parts)](logits, score, where, v, parts, stride, temperature, seed, QUARTER=BLOCK // 4)
    best_of_row[(m,)](score, where, ids, parts, PARTS=triton.next_power_of_2(parts), num_warps=1)
    return ids
