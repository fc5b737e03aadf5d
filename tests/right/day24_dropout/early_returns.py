"""Nothing to draw where p is 0 or 1: then torch returns x's numbers, or zeros, and no kernel runs."""

import torch
import triton
import triton.language as tl


@triton.jit
def drop(x, y, mask, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) >= p
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, tl.where(keep, v / (1 - p), 0.0), mask=i < n)
    tl.store(mask + i, keep, mask=i < n)


def dropout(x, p, seed):
    if p == 0:
        return x.clone(), torch.ones_like(x, dtype=torch.bool)
    if p == 1:
        return torch.zeros_like(x), torch.zeros_like(x, dtype=torch.bool)
    y, mask = torch.empty_like(x), torch.empty_like(x, dtype=torch.bool)
    drop[(triton.cdiv(x.numel(), 1024),)](x, y, mask, x.numel(), p, seed, BLOCK=1024)
    return y, mask
