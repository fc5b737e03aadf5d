"""axpy with the number of programs as a constexpr, tl.fma and a count of turns by cdiv. May have limits."""

import triton
import triton.language as tl


@triton.jit
def axpy_kernel(out, x, y, n, alpha, P: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    turns = tl.cdiv(n - pid * BLOCK, P * BLOCK)
    for turn in range(turns):
        offs = (turn * P + pid) * BLOCK + tl.arange(0, BLOCK)
        mask = offs < n
        xs = tl.load(x + offs, mask=mask, other=0.0)
        ys = tl.load(y + offs, mask=mask, other=0.0)
        tl.store(out + offs, tl.fma(xs, tl.full((BLOCK,), alpha, tl.float32), ys), mask=mask)


def axpy(alpha, x, y, num_programs):
    out = x.new_empty(x.shape)
    axpy_kernel[(num_programs,)](out, x, y, x.shape[0], alpha, P=num_programs, BLOCK=1024)
    return out
