"""Two walks along a row, the maximum first; the gradient at the label by a store of its own; a grid of rows
and steps; a logarithm to base 2, and a series where the exponential is small.
"""

import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.44269504)
LN2 = tl.constexpr(0.69314718)


@triton.jit
def statistics(x_ptr, t_ptr, y_ptr, stats_ptr, s, v, step_b, step_s, COLS: tl.constexpr):
    b, j = tl.program_id(1).to(tl.int64), tl.program_id(0)
    x_ptr += b * step_b + j.to(tl.int64) * step_s
    lane = tl.arange(0, COLS)
    target = tl.load(t_ptr + b * s + j)
    used = target != -100
    end = tl.where(used, v, 0)
    top = tl.full((COLS,), float("-inf"), tl.float32)
    for first in range(0, end, COLS):
        x = tl.load(x_ptr + first + lane, first + lane < v, float("-inf")).to(tl.float32)
        top = tl.maximum(top, x)
    peak = tl.max(top, axis=0)
    total = tl.zeros((COLS,), tl.float32)
    for first in range(0, end, COLS):
        x = tl.load(x_ptr + first + lane, first + lane < v, float("-inf")).to(tl.float32)
        total += tl.exp2((x - peak) * LOG2E)
    log_total = tl.log2(tl.sum(total, axis=0))
    at = tl.load(x_ptr + target, mask=used, other=0.0).to(tl.float32)
    tl.store(y_ptr + b * s + j, tl.where(used, (at - peak) - log_total * LN2, 0.0))
    tl.store(stats_ptr + 2 * (b * s + j), peak)
    tl.store(stats_ptr + 2 * (b * s + j) + 1, log_total)


@triton.jit
def slopes(d_ptr, x_ptr, t_ptr, stats_ptr, dx_ptr, s, v, d_b, d_s, step_b, step_s, COLS: tl.constexpr):
    b, j = tl.program_id(2).to(tl.int64), tl.program_id(1).to(tl.int64)
    col = tl.program_id(0) * COLS + tl.arange(0, COLS)
    token = b * s + j
    target = tl.load(t_ptr + token)
    used = target != -100
    x = tl.load(x_ptr + b * step_b + j * step_s + col, (col < v) & used, 0.0).to(tl.float32)
    peak = tl.load(stats_ptr + 2 * token, used, 0.0)
    p = tl.exp2((x - peak) * LOG2E - tl.load(stats_ptr + 2 * token + 1, used, 0.0))
    d = tl.load(d_ptr + b * d_b + j * d_s, used, 0.0)
    slope = tl.where(col == target, d - p * d, -p * d)
    tl.store(dx_ptr + token * v + col, tl.where(used, slope, 0.0).to(dx_ptr.dtype.element_ty), col < v)


@triton.jit
def pair_of(pc_ptr, pr_ptr, rc_ptr, rr_ptr, i, inside):
    """The two differences."""
    c = tl.load(pc_ptr + i, inside) - tl.load(rc_ptr + i, inside)
    return c, tl.load(pr_ptr + i, inside) - tl.load(rr_ptr + i, inside)


@triton.jit
def loss_of(pc_ptr, pr_ptr, rc_ptr, rr_ptr, l_ptr, c_ptr, r_ptr, n, beta, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    c, r = pair_of(pc_ptr, pr_ptr, rc_ptr, rr_ptr, i, i < n)
    z = (c - r) * beta
    small = tl.exp2(-tl.abs(z) * LOG2E)
    series = small * (1 - small * (0.5 - small * 0.33333333))
    tail = tl.where(small < 0.01, series, tl.log2(1 + small) * LN2)
    tl.store(l_ptr + i, tail + tl.where(z < 0, -z, 0.0), i < n)
    tl.store(c_ptr + i, c * beta, i < n)
    tl.store(r_ptr + i, r * beta, i < n)


@triton.jit
def pulls_of(
    dl_ptr, dc_ptr, dr_ptr, pc_ptr, pr_ptr, rc_ptr, rr_ptr, gc_ptr, gr_ptr, n, a, b, e, beta,
    SIZE: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    c, r = pair_of(pc_ptr, pr_ptr, rc_ptr, rr_ptr, i, i < n)
    pull = tl.load(dl_ptr + i * a, i < n) * tl.sigmoid((r - c) * beta) * beta
    tl.store(gc_ptr + i, tl.load(dc_ptr + i * b, i < n) * beta - pull, i < n)
    tl.store(gr_ptr + i, tl.load(dr_ptr + i * e, i < n) * beta + pull, i < n)


class Log(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, labels):
        b, s, v = logits.shape
        y = torch.empty((b, s), dtype=torch.float32, device=logits.device)
        stats = torch.empty((b, s, 2), dtype=torch.float32, device=logits.device)
        statistics[(s, b)](logits, labels, y, stats, s, v, *logits.stride()[:2], COLS=2048, num_warps=8)
        ctx.save_for_backward(logits, labels, stats)
        return y

    @staticmethod
    def backward(ctx, d):
        logits, labels, stats = ctx.saved_tensors
        b, s, v = logits.shape
        dx = logits.new_empty(b, s, v)
        slopes[(triton.cdiv(v, 4096), s, b)](
            d, logits, labels, stats, dx, s, v, *d.stride(), *logits.stride()[:2], COLS=4096, num_warps=8
        )
        return dx, None


class Preferences(torch.autograd.Function):
    @staticmethod
    def forward(ctx, *inputs):
        *four, beta = inputs
        n = four[0].shape[0]
        three = [four[0].new_empty(n) for _ in range(3)]
        loss_of[(max(triton.cdiv(n, 512), 1),)](*four, *three, n, beta, SIZE=512)
        ctx.save_for_backward(*four)
        ctx.beta = beta
        return tuple(three)

    @staticmethod
    def backward(ctx, *ds):
        four = ctx.saved_tensors
        n = four[0].shape[0]
        two = [four[0].new_empty(n) for _ in range(2)]
        pulls_of[(max(triton.cdiv(n, 512), 1),)](
            *ds, *four, *two, n, *(d.stride(0) for d in ds), ctx.beta, SIZE=512
        )
        return *two, None, None, None


token_logprobs = Log.apply
dpo_loss = Preferences.apply
