"""One block a row, all of it by methods of the tensor; the grid is a list."""

import torch
import triton
import triton.language as tl


@triton.jit
def row_lse(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + offs, mask=offs < n, other=float("-inf")).to(tl.float32)
    top = x.max(0)
    safe = tl.where(top.abs() == float("inf"), 0.0, top)
    tl.store(out_ptr + row, (x - safe).exp().sum(0).log() + safe)


def logsumexp(x):
    m, n = x.shape
    out = x.new_empty((m,), dtype=torch.float32)
    BLOCK = triton.next_power_of_2(n)
    row_lse[[m]](x, out, n, x.stride(0), BLOCK=BLOCK, num_warps=min(max(BLOCK // 1024, 1), 16))
    return out
