"""A part is a named tuple: of tensors to the launcher, and of pointers to the kernel and its helpers."""

from typing import NamedTuple

import torch
import triton
import triton.language as tl


class Part(NamedTuple):
    m: torch.Tensor
    total: torch.Tensor
    o: torch.Tensor
    strides: tuple[int, ...] = ()

    @classmethod
    def of(cls, m, total, o):
        return cls(m, total, o, (m.stride(0), total.stride(0), *o.stride()))


@triton.jit
def statistics(part, rows, inside):
    m = tl.load(part.m + rows * part.strides[0], mask=inside, other=0.0)
    return m, tl.load(part.total + rows * part.strides[1], mask=inside, other=0.0)


@triton.jit
def scaled(part, factor, rows, cols, inside):
    at = rows[:, None] * part.strides[2] + cols[None, :] * part.strides[3]
    return tl.load(part.o + at, mask=inside, other=0.0) * factor[:, None]


@triton.jit
def merge_kernel(one, two, out, R, D, BR: tl.constexpr, BD: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * BR + tl.arange(0, BR)
    cols = tl.program_id(1).to(tl.int64) * BD + tl.arange(0, BD)
    m1, l1 = statistics(one, rows, rows < R)
    m2, l2 = statistics(two, rows, rows < R)
    m = tl.maximum(m1, m2)
    w1 = tl.where(m1 == float("-inf"), 0.0, tl.exp(m1 - m))
    w2 = tl.where(m2 == float("-inf"), 0.0, tl.exp(m2 - m))
    inside = (rows < R)[:, None] & (cols < D)[None, :]
    o = scaled(one, w1, rows, cols, inside) + scaled(two, w2, rows, cols, inside)
    tl.store(out.o + rows[:, None] * D + cols[None, :], o, mask=inside)
    if tl.program_id(1) == 0:
        tl.store(out.m + rows, m, mask=rows < R)
        tl.store(out.total + rows, l1 * w1 + l2 * w2, mask=rows < R)


def merge(m1, l1, o1, m2, l2, o2):
    R, D = o1.shape
    out = Part(m1.new_empty(R), l1.new_empty(R), o1.new_empty((R, D)))
    if R:
        BD = min(128, triton.next_power_of_2(max(1, D)))
        grid = (triton.cdiv(R, 32), max(1, triton.cdiv(D, BD)))
        merge_kernel[grid](Part.of(m1, l1, o1), Part.of(m2, l2, o2), out, R, D, BR=32, BD=BD)
    return out[:3]


def flash_traffic(S, D, block_m, itemsize):
    return itemsize * S * D * 2 * (1 + triton.cdiv(S, block_m))
