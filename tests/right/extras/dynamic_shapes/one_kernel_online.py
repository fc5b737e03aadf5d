"""A right kernel that needs no buckets: blocks of 1024 columns, a running maximum, and one compilation."""

import triton
import triton.language as tl


def unasked(*names):
    return {"do_not_specialize": list(names)}


@triton.jit(**unasked("D", "step"))
def online(src, dst, D, step, W: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    src += row * step
    dst += row * D
    lane = tl.arange(0, W)
    m = tl.full([W], -3.0e38, tl.float32)
    s = tl.zeros([W], tl.float32)
    for at in range(0, D, W):
        v = tl.load(src + at + lane, at + lane < D, -float("inf")).to(tl.float32)
        new = tl.where(v > m, v, m)
        s = s * tl.exp(m - new) + tl.exp(v - new)
        m = new
    top = tl.max(m, 0)
    whole = tl.sum(s * tl.exp(m - top), 0)
    for at in range(0, D, W):
        v = tl.load(src + at + lane, at + lane < D).to(tl.float32)
        tl.store(dst + at + lane, tl.exp(v - top) / whole, at + lane < D)


def softmax(x):
    m, n = x.shape
    out = x.new_empty((m, n))
    if out.numel():
        online[(m,)](x, out, n, x.stride(0), W=1024, num_warps=4)
    return out
