"""Day 24: dropout, with a mask that any program can work out from the seed and an element's number."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def dropout_kernel(x_ptr, y_ptr, keep_ptr, n, p, scale, seed, BLOCK: tl.constexpr):
    """y[i] = scale * x[i] where element i is kept, else 0; program pid owns BLOCK elements."""
    # 64 bits: past element 2**31 a 32-bit product would wrap, and the mask would start over.
    pid = tl.program_id(0).to(tl.int64)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    # One run of Philox costs about 40 multiplications and gives four numbers: counter c serves the elements
    # 4c .. 4c + 3, so nothing is thrown away and BLOCK does not enter into who gets which number.
    counters = pid * (BLOCK // 4) + tl.arange(0, BLOCK // 4)
    u0, u1, u2, u3 = tl.rand4x(seed, counters)
    # Woven together in the elements' order, within each thread's registers: x and y keep 16-byte accesses.
    u = tl.interleave(tl.interleave(u0, u2), tl.interleave(u1, u3))
    keep = u >= p  # u < 1: p = 1 keeps nothing, and p = 0 keeps even u = 0
    # 9 bytes an element in fp32: 4 read, 4 + 1 written. The random numbers move none.
    x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
    # A choice, not a product: 0 * Inf would be NaN.
    tl.store(y_ptr + offs, tl.where(keep, x * scale, 0.0), mask=mask)
    tl.store(keep_ptr + offs, keep, mask=mask)


def dropout(x: torch.Tensor, p: float, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return y, which is x / (1 - p) where kept and 0 elsewhere, and the mask of what was kept, bool.

    x is contiguous, of any shape; each element is dropped with probability p, by seed and its number alone.
    """
    n = x.numel()
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    keep = torch.empty(x.shape, dtype=torch.bool, device=x.device)
    scale = 1 / (1 - p) if p < 1 else 0.0  # where nothing is kept, nothing is scaled
    # 8 elements a thread at 4 warps: two runs of Philox, and two 16-byte loads of fp32.
    BLOCK = 1024
    dropout_kernel[(triton.cdiv(n, BLOCK),)](x, y, keep, n, p, scale, seed, BLOCK=BLOCK)
    return y, keep
