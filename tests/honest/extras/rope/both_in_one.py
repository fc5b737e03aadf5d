"""q and k in one launch, a program a token, which walks over the heads; whole rows and tl.split, tl.join."""

import torch
import triton
import triton.language as tl


@triton.jit
def heads(
    src,
    dst,
    cos,
    sin,
    count,
    pairs,
    step,
    unit,
    NEIGHBOURS: tl.constexpr,
    ROWS: tl.constexpr,
    COLS: tl.constexpr,
):
    pair = tl.arange(0, COLS)[None, :, None]
    side = tl.arange(0, 2)[None, None, :]
    at = 2 * pair + side if NEIGHBOURS else pair + side * pairs
    for start in range(0, count, ROWS):
        head = (start + tl.arange(0, ROWS)).to(tl.int64)[:, None, None]
        inside = (head < count) & (pair < pairs)
        a, b = tl.split(tl.load(src + head * step + at * unit, mask=inside, other=0.0).to(tl.float32))
        turned = tl.join(a * cos - b * sin, a * sin + b * cos)
        tl.store(dst + head * 2 * pairs + at, turned.to(dst.dtype.element_ty), mask=inside)


@triton.jit
def token(
    q, k, q_out, k_out, cos_ptr, sin_ptr, where, length, q_heads, k_heads, pairs, q0, q1, q2, q3, k0, k1, k2,
    k3, way, NEIGHBOURS: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    t = tl.program_id(0).to(tl.int64)
    row = tl.load(where + t) * pairs + tl.arange(0, COLS)
    known = tl.arange(0, COLS) < pairs
    cos = tl.load(cos_ptr + row, mask=known, other=1.0)[None, :]
    sin = tl.load(sin_ptr + row, mask=known, other=0.0)[None, :] * way
    b, s = t // length, t % length
    if q is not None:
        heads(
            q + b * q0 + s * q1,
            q_out + t * q_heads * 2 * pairs,
            cos,
            sin,
            q_heads,
            pairs,
            q2,
            q3,
            NEIGHBOURS,
            ROWS,
            COLS,
        )
    if k is not None:
        heads(
            k + b * k0 + s * k1,
            k_out + t * k_heads * 2 * pairs,
            cos,
            sin,
            k_heads,
            pairs,
            k2,
            k3,
            NEIGHBOURS,
            ROWS,
            COLS,
        )


def launch(q, k, cos, sin, where, neighbours, way):
    some = k if q is None else q
    b, s, _, d = some.shape
    out = [None if x is None else torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k)]
    counts = [0 if x is None else x.shape[2] for x in (q, k)]
    strides = [step for x in (q, k) for step in ((0, 0, 0, 0) if x is None else x.stride())]
    cols = triton.next_power_of_2(d // 2)
    token[(b * s,)](
        q, k, *out, cos, sin, where, s, *counts, d // 2, *strides, way,
        NEIGHBOURS=neighbours, ROWS=max(1, min(32, 2048 // cols)), COLS=cols,
    )  # fmt: skip
    return tuple(out)


class Turn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, cos, sin, where, neighbours):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(cos, sin, where)
        ctx.neighbours = neighbours
        return launch(q, k, cos, sin, where, neighbours, 1.0)

    @staticmethod
    def backward(ctx, dq, dk):
        return *launch(dq, dk, *ctx.saved_tensors, ctx.neighbours, -1.0), None, None, None, None


def rope(q, k, cos, sin, positions, interleaved):
    return Turn.apply(q, k, cos, sin, positions, interleaved)
