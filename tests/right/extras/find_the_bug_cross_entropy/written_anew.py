"""Nothing of the kernel is left: programs that stay, atomics for sum and count."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_up(logits, target, sums, m, v, step, skipped, SIZE: tl.constexpr):
    lanes = tl.arange(0, SIZE)
    loss, counted = 0.0, 0.0
    for i in range(tl.program_id(0).to(tl.int64), m, tl.num_programs(0)):
        wanted = tl.load(target + i)
        if wanted != skipped:
            high, total = -3.0e38, 0.0
            for first in range(0, v, SIZE):
                x = tl.load(logits + i * step + first + lanes, first + lanes < v, -float("inf"))
                x = x.to(tl.float32)
                higher = tl.maximum(high, tl.max(x, 0))
                total = total * tl.exp(high - higher) + tl.sum(tl.exp(x - higher), 0)
                high = higher
            loss += (high - tl.load(logits + i * step + wanted).to(tl.float32)) + tl.log(total)
            counted += 1.0
    tl.atomic_add(sums, loss)
    tl.atomic_add(sums + 1, counted)


@triton.jit
def divide(sums, out):
    tl.store(out, tl.load(sums) / tl.load(sums + 1))


def cross_entropy(logits, target, ignore_index):
    sums = torch.zeros(2, dtype=torch.float32, device=logits.device)
    out = torch.empty((), dtype=torch.float32, device=logits.device)
    m, v = logits.shape
    size = min(max(triton.next_power_of_2(v), 16), 8192)
    step = logits.stride(0)
    add_up[(min(m, 1024),)](logits, target, sums, m, v, step, ignore_index, SIZE=size, num_warps=8)
    divide[(1,)](sums, out)
    return out
