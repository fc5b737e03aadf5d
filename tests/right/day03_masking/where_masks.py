"""A shift that loads without other= and picks by tl.where; the block by next_power_of_2."""

import torch
import triton
import triton.language as tl


@triton.jit
def shift_kernel(X, Y, n_cols, shift, fill, BLOCK_SIZE: tl.constexpr):
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    src = cols + shift
    valid = mask & (src >= 0) & (src < n_cols)
    x = tl.load(X + src, mask=valid)
    x = tl.where(valid, x, fill)
    tl.store(Y + cols, x, mask=mask)


def calculate_settings(n: int) -> tuple[int, int]:
    BLOCK_SIZE = triton.next_power_of_2(n)
    num_warps = 4
    if BLOCK_SIZE >= 32768:
        num_warps = 32
    elif BLOCK_SIZE >= 8192:
        num_warps = 16
    elif BLOCK_SIZE >= 2048:
        num_warps = 8
    return BLOCK_SIZE, num_warps


def shift(x: torch.Tensor, k: int, fill: float) -> torch.Tensor:
    y = torch.empty_like(x)
    n = x.shape[0]
    if n == 0:
        return y
    BLOCK_SIZE, num_warps = calculate_settings(n)
    shift_kernel[(1,)](x, y, n, k, fill, BLOCK_SIZE=BLOCK_SIZE, num_warps=num_warps)
    return y
