"""One kernel for the vectors, a second for o as one long vector, by programs that stay; exp2."""

import torch
import triton
import triton.language as tl

LOWEST = tl.constexpr(-3.4028234e38)  # finite: -inf minus it is -inf, and never NaN
LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def weights(m1_ptr, m2_ptr, at, mask):
    first = tl.load(m1_ptr + at, mask=mask, other=0.0)
    second = tl.load(m2_ptr + at, mask=mask, other=0.0)
    top = tl.maximum(first, second)
    base = tl.maximum(top, LOWEST)
    return top, tl.exp2((first - base) * LOG2_E), tl.exp2((second - base) * LOG2_E)


@triton.jit
def merge_sums(m1_ptr, l1_ptr, m2_ptr, l2_ptr, m_ptr, l_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    top, w1, w2 = weights(m1_ptr, m2_ptr, at, at < n)
    l1 = tl.load(l1_ptr + at, mask=at < n)
    l2 = tl.load(l2_ptr + at, mask=at < n)
    tl.store(m_ptr + at, top, mask=at < n)
    tl.store(l_ptr + at, w1 * l1 + w2 * l2, mask=at < n)


@triton.jit
def merge_outputs(m1_ptr, o1_ptr, m2_ptr, o2_ptr, o_ptr, numel, D, s1, s2, BLOCK: tl.constexpr):
    step = tl.num_programs(0) * BLOCK
    for start in range(tl.program_id(0) * BLOCK, numel, step):
        at = start + tl.arange(0, BLOCK).to(tl.int64)
        inside = at < numel
        row, col = at // D, at % D
        _, w1, w2 = weights(m1_ptr, m2_ptr, row, inside)
        o1 = tl.load(o1_ptr + row * s1 + col, mask=inside)
        o2 = tl.load(o2_ptr + row * s2 + col, mask=inside)
        tl.store(o_ptr + at, w1 * o1 + w2 * o2, mask=inside)


def merge(m1, l1, o1, m2, l2, o2):
    rows, D = o1.shape
    m, total, o = (torch.empty(shape, device=m1.device) for shape in (rows, rows, (rows, D)))
    merge_sums[(triton.cdiv(rows, 256),)](m1, l1, m2, l2, m, total, rows, BLOCK=256)
    programs = min(triton.cdiv(o.numel(), 1024), 1056 if o.is_cuda else 3)
    merge_outputs[(programs,)](m1, o1, m2, o2, o, o.numel(), D, o1.stride(0), o2.stride(0), BLOCK=1024)
    return m, total, o


def flash_traffic(S: int, D: int, block_m: int, itemsize: int) -> int:
    tiles = (S + block_m - 1) // block_m
    return 2 * (tiles + 1) * S * D * itemsize
