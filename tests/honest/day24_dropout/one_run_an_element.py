"""A run of Philox for every element, on a two-dimensional block; scaled by a division in the kernel."""

import torch
import triton
import triton.language as tl


@triton.jit
def drop(x_ptr, y_ptr, kept_ptr, n, p, seed, ROWS: tl.constexpr, COLS: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * (ROWS * COLS)
    i = first + tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    exists = i < n
    dropped = tl.rand(seed, i) < p
    x = tl.load(x_ptr + i, mask=exists, other=0.0).to(tl.float32)
    # Where everything is dropped the quotient is Inf or NaN, and is not chosen.
    y = tl.where(dropped, 0.0, x / (1.0 - p))
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), mask=exists)
    tl.store(kept_ptr + i, dropped == 0, mask=exists)


def dropout(x, p, seed):
    y, kept = torch.empty_like(x), torch.empty_like(x, dtype=torch.bool)
    if x.numel():
        drop[(triton.cdiv(x.numel(), 2048),)](x, y, kept, x.numel(), p, seed, ROWS=4, COLS=512, num_warps=8)
    return y, kept
