"""A strided gather by blocks of 256 on a grid by cdiv, a helper for the offsets."""

import triton
import triton.language as tl


@triton.jit
def source_index(start, step, offs):
    return start + step * offs


@triton.jit
def gather_kernel(src, dst, start, step, stride, count, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < count
    value = tl.load(src + source_index(start, step, offs) * stride, mask=mask)
    tl.store(dst + offs, value, mask=mask)


def gather_strided(x, start, step, count):
    out = x.new_empty((count,))
    grid = lambda meta: (triton.cdiv(count, meta["BLOCK"]),)  # noqa: E731
    gather_kernel[grid](x, out, start, step, x.stride(0), count, BLOCK=256)
    return out
