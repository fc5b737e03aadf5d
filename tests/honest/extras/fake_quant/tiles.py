"""Tiles of several rows, reciprocals, halves by a large constant; one kernel for both passes."""

import torch
import triton
import triton.language as tl

LARGE = tl.constexpr(8388608.0)  # 2**23: from it on fp32 has steps of 1, and rounds halves to even


@triton.jit
def tile_kernel(
    a_ptr,
    x_ptr,
    s_ptr,
    z_ptr,
    out_ptr,
    c,
    n,
    sa0,
    sa1,
    low,
    high,
    BACK: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
):
    across = tl.cdiv(n, N)
    rows = (tl.program_id(0) // across).to(tl.int64) * M + tl.arange(0, M)
    cols = (tl.program_id(0) % across).to(tl.int64) * N + tl.arange(0, N)
    inside = (rows < c)[:, None] & (cols < n)[None, :]
    s = tl.load(s_ptr + rows, mask=rows < c, other=1.0)[:, None]
    z = tl.load(z_ptr + rows, mask=rows < c, other=0)[:, None]
    at = rows[:, None] * n + cols[None, :]
    x = tl.load(x_ptr + at, mask=inside, other=0.0).to(tl.float32)
    v = x * (1.0 / s)
    # Integers of v beyond 2**24 are clamped anyway.
    size = tl.minimum(tl.abs(v), 16777216.0)
    whole = tl.where(size < LARGE, (size + LARGE) - LARGE, size)
    q = tl.where(v < 0, -whole, whole).to(tl.int32) + z
    if BACK:
        a = tl.load(a_ptr + rows[:, None] * sa0 + cols[None, :] * sa1, mask=inside, other=0.0)
        keep = (q >= low) & (q <= high) & (x == x)
        tl.store(out_ptr + at, tl.where(keep, a, 0.0), mask=inside)
    else:
        y = (tl.minimum(tl.maximum(q, low), high) - z).to(tl.float32) * s
        tl.store(out_ptr + at, tl.where(x == x, y, x), mask=inside)


def run(a, x, scale, zero_point, low, high, back):
    c, n = x.shape
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    N = min(triton.next_power_of_2(n), 512)
    M = max(2048 // N, 1) if c > 4 else 1
    grid = (triton.cdiv(c, M) * triton.cdiv(n, N),)
    steps = a.stride() if back else (0, 0)
    tile_kernel[grid](a, x, scale, zero_point, out, c, n, *steps, low, high, BACK=back, M=M, N=N)
    return out


class Through(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, zero_point, low, high):
        ctx.save_for_backward(x, scale, zero_point)
        ctx.ends = low, high
        return run(x, x, scale, zero_point, low, high, False)

    @staticmethod
    def backward(ctx, dy):
        return run(dy, *ctx.saved_tensors, *ctx.ends, True), None, None, None, None


def fake_quantize(x, scale, zero_point, qmin, qmax):
    return Through.apply(x, scale, zero_point, qmin, qmax)
