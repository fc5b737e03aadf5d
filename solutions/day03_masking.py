"""Day 03: y[i] = x[i + k], and a fill value where x has no such element."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def shift_kernel(x_ptr, y_ptr, n, k, fill, BLOCK: tl.constexpr):
    """y[i] = x[i + k] where 0 <= i + k < n, else fill; one program, BLOCK >= n."""
    offs = tl.arange(0, BLOCK)
    source = offs + k
    # Both ends: k moves the block over either. A masked lane reads no byte and holds what `other` says.
    x = tl.load(x_ptr + source, mask=(source >= 0) & (source < n), other=fill)
    # Another question, so another mask: which lanes own an element of y? At most n are read, n are written.
    tl.store(y_ptr + offs, x, mask=offs < n)


def shift(x: torch.Tensor, k: int, fill: float) -> torch.Tensor:
    """Return y[n] with y[i] = x[i + k] where that exists, else fill, for x[n] contiguous, n <= 65536."""
    n = x.numel()
    y = torch.empty_like(x)
    # A block has at least one lane, even where n = 0 leaves it nothing to do.
    BLOCK = triton.next_power_of_2(max(n, 1))
    # 64 elements a thread at most; with the usual 4 warps it would be 512, which no thread can hold.
    num_warps = min(max(BLOCK // 512, 4), 32)
    shift_kernel[(1,)](x, y, n, k, fill, BLOCK=BLOCK, num_warps=num_warps)
    return y
