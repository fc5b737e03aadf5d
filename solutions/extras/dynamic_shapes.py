"""Extra: softmax for rows of any length by a few compiled kernels, one for each bucket of lengths."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

PLAIN: list[str] = []  # parameters of which the compiler asks the type, and not the value
# Sizes that differ from call to call: each would have up to three variants.
PLAIN += ["n_rows", "n_cols", "stride_xm"]


@triton.jit(do_not_specialize=PLAIN)
def softmax_kernel(x_ptr, y_ptr, n_rows, n_cols, stride_xm, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """y = softmax(x) for BLOCK_M rows; BLOCK_N >= n_cols."""
    # 64 bits: a row may start 2**31 elements or more after the first one.
    offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    offs_n = tl.arange(0, BLOCK_N)[None, :]
    mask = (offs_m < n_rows) & (offs_n < n_cols)
    # n_cols elements a row, read once. The lanes of the bucket behind them take time, and move no bytes.
    x = tl.load(x_ptr + offs_m * stride_xm + offs_n, mask=mask, other=-float("inf")).to(tl.float32)
    # A row that does not exist is -inf everywhere: -inf - (-inf) is NaN, which nobody stores.
    numerator = tl.exp(x - tl.max(x, axis=1, keep_dims=True))
    y = numerator / tl.sum(numerator, axis=1, keep_dims=True)
    # And written once.
    tl.store(y_ptr + offs_m * n_cols + offs_n, y, mask=mask)


def bucket(n_cols: int) -> dict[str, int]:
    """The bucket that n_cols falls into, and all that the compiler has to know: 8 buckets up to 16384."""
    BLOCK_N = max(triton.next_power_of_2(n_cols), 128)
    # 1024 elements a program or more, and at most 32 of them a thread.
    return {
        "BLOCK_M": max(1024 // BLOCK_N, 1),
        "BLOCK_N": BLOCK_N,
        "num_warps": min(max(BLOCK_N // 512, 2), 16),
    }


def softmax(x: torch.Tensor) -> torch.Tensor:
    """Return the softmax of each row of x[m, n], n <= 16384; rows may lie any distance apart."""
    n_rows, n_cols = x.shape
    y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
    meta = bucket(n_cols)
    grid = (triton.cdiv(n_rows, meta["BLOCK_M"]),)
    softmax_kernel[grid](x, y, n_rows, n_cols, x.stride(0), **meta)
    return y
