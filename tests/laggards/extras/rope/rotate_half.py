"""As models write it in torch: the second elements, negated, before the first; then x · cos + that · sin."""

import torch
import triton
import triton.language as tl


@triton.jit
def exchange_kernel(
    x_ptr,
    half_ptr,
    S,
    H,
    D,
    sb,
    ss,
    sh,
    sd,
    INTERLEAVED: tl.constexpr,
    ROWS: tl.constexpr,
    COLS: tl.constexpr,
):
    """Reads a tensor of x's size, and writes one."""
    t = tl.program_id(0).to(tl.int64)
    h = tl.arange(0, ROWS).to(tl.int64)[:, None]
    c = tl.arange(0, COLS)[None, :]
    inside = (h < H) & (c < D)
    if INTERLEAVED:
        other = c ^ 1
        minus = c % 2 == 0
    else:
        other = tl.where(c < D // 2, c + D // 2, c - D // 2)
        minus = c < D // 2
    x = tl.load(x_ptr + t // S * sb + t % S * ss + h * sh + other * sd, mask=inside, other=0.0)
    tl.store(half_ptr + (t * H + h) * D + c, tl.where(minus, -x, x), mask=inside)


@triton.jit
def combine_kernel(
    x_ptr, half_ptr, y_ptr, cos_ptr, sin_ptr, at_ptr, S, H, D, sb, ss, sh, sd, SIGN: tl.constexpr,
    INTERLEAVED: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    """Reads two tensors of x's size, and writes one."""
    t = tl.program_id(0).to(tl.int64)
    h = tl.arange(0, ROWS).to(tl.int64)[:, None]
    c = tl.arange(0, COLS)[None, :]
    inside = (h < H) & (c < D)
    pair = c // 2 if INTERLEAVED else c % (D // 2)
    row = tl.load(at_ptr + t) * (D // 2)
    cos = tl.load(cos_ptr + row + pair, mask=c < D, other=0.0)
    sin = tl.load(sin_ptr + row + pair, mask=c < D, other=0.0) * SIGN
    x = tl.load(x_ptr + t // S * sb + t % S * ss + h * sh + c * sd, mask=inside, other=0.0).to(tl.float32)
    half = tl.load(half_ptr + (t * H + h) * D + c, mask=inside, other=0.0).to(tl.float32)
    tl.store(y_ptr + (t * H + h) * D + c, x * cos + half * sin, mask=inside)


def turn(x, cos, sin, positions, interleaved, sign):
    B, S, H, D = x.shape
    y, half = (torch.empty((B, S, H, D), dtype=x.dtype, device=x.device) for _ in range(2))
    shape = {"INTERLEAVED": interleaved, "ROWS": triton.next_power_of_2(H), "COLS": triton.next_power_of_2(D)}
    exchange_kernel[(B * S,)](x, half, S, H, D, *x.stride(), **shape)
    combine_kernel[(B * S,)](x, half, y, cos, sin, positions, S, H, D, *x.stride(), SIGN=sign, **shape)
    return y


class Turn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, cos, sin, positions, interleaved):
        ctx.save_for_backward(cos, sin, positions)
        ctx.interleaved = interleaved
        return tuple(turn(x, cos, sin, positions, interleaved, 1.0) for x in (q, k))

    @staticmethod
    def backward(ctx, dq, dk):
        gradients = (turn(x, *ctx.saved_tensors, ctx.interleaved, -1.0) for x in (dq, dk))
        return *gradients, None, None, None, None


def rope(q, k, cos, sin, positions, interleaved):
    return Turn.apply(q, k, cos, sin, positions, interleaved)
