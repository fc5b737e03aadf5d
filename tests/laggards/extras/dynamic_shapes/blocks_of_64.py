"""Softmax of rows of any length by one kernel: a warp goes over 64 columns at a time, three times."""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n_cols", "stride_xm"])
def softmax_kernel(x_ptr, y_ptr, n_cols, stride_xm):
    """y[row, :] = softmax(x[row, :])."""
    row = tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, 64)
    top = tl.cast(-float("inf"), tl.float32)
    for start in range(0, n_cols, 64):
        x = tl.load(x_ptr + row * stride_xm + start + offs, mask=start + offs < n_cols, other=-float("inf"))
        top = tl.maximum(top, tl.max(x.to(tl.float32), axis=0), propagate_nan=tl.PropagateNan.ALL)
    total = tl.cast(0.0, tl.float32)
    for start in range(0, n_cols, 64):
        x = tl.load(x_ptr + row * stride_xm + start + offs, mask=start + offs < n_cols, other=-float("inf"))
        total += tl.sum(tl.exp(x.to(tl.float32) - top), axis=0)
    for start in range(0, n_cols, 64):
        x = tl.load(x_ptr + row * stride_xm + start + offs, mask=start + offs < n_cols, other=-float("inf"))
        y = tl.exp(x.to(tl.float32) - top) / total
        tl.store(y_ptr + row * n_cols + start + offs, y, mask=start + offs < n_cols)


def softmax(x: torch.Tensor) -> torch.Tensor:
    """Return the softmax of each row of x[m, n]; rows may lie any distance apart."""
    n_rows, n_cols = x.shape
    y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
    softmax_kernel[(n_rows,)](x, y, n_cols, x.stride(0), num_warps=1)
    return y
