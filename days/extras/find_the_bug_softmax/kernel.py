"""Extra find_the_bug_softmax: softmax over rows, each element read once and written once."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, n_cols, stride_xm, BLOCK_N: tl.constexpr):
    """y[pid_m, :] = softmax(x[pid_m, :]); one program owns one row, BLOCK_N >= n_cols."""
    # 64 bits: a row may start 2**31 elements or more after the first one.
    pid_m = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    offs = pid_m * stride_xm + offs_n
    mask = offs < n_cols
    # The only read of x, n_cols elements.
    x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    # In fp32 from here to the store, and no exponent above 0: exp cannot overflow.
    numerator = tl.exp(x - tl.max(x, axis=0))
    # The row's exponentials wait in memory until their sum is known.
    tl.store(x_ptr + offs, numerator, mask=mask)
    denominator = tl.sum(numerator, axis=0)
    # The only write of y, rounded to its dtype here and nowhere earlier.
    tl.store(y_ptr + pid_m * stride_xm + offs_n, tl.load(x_ptr + offs, mask=mask) / denominator, mask=mask)


def softmax(x: torch.Tensor) -> torch.Tensor:
    """Return the softmax of each row of x[m, n], n <= 16384; rows may lie any distance apart."""
    n_rows, n_cols = x.shape
    y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
    BLOCK_N = triton.next_power_of_2(n_cols)
    # About 16 elements a lane: one warp on 16384 columns would need 512 registers a lane and spill.
    num_warps = min(max(BLOCK_N // 512, 1), 16)
    softmax_kernel[(n_rows,)](x, y, n_cols, x.stride(0), BLOCK_N=BLOCK_N, num_warps=num_warps)
    return y


if __name__ == "__main__":
    row = torch.randn(1, 1024, device="cuda" if torch.cuda.is_available() else "cpu")
    wanted = torch.softmax(row, dim=-1)
    torch.testing.assert_close(softmax(row), wanted)
    print("One row of 1024: softmax(x) is what torch gives.")
