"""Two walks along a row, the maximum first; powers of two throughout, and statistics in one tensor."""

import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.44269504)
LN2 = tl.constexpr(0.69314718)


@triton.jit
def statistics(x_ptr, t_ptr, stats_ptr, loss_ptr, m, v, step, skip, eps, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * step
    lane = tl.arange(0, COLS)
    top = tl.full((COLS,), float("-inf"), tl.float32)
    mean = tl.zeros((COLS,), tl.float32)
    for first in range(0, v, COLS):
        x = tl.load(x_ptr + first + lane, first + lane < v, float("-inf")).to(tl.float32)
        top = tl.maximum(top, x)
        mean += tl.where(first + lane < v, x / v, 0.0)
    peak = tl.max(top, axis=0)
    total = tl.zeros((COLS,), tl.float32)
    for first in range(0, v, COLS):
        x = tl.load(x_ptr + first + lane, first + lane < v, float("-inf")).to(tl.float32)
        total += tl.exp2((x - peak) * LOG2E)
    log_total = tl.log2(tl.sum(total, axis=0))
    target = tl.load(t_ptr + row)
    valid = target != skip
    at = tl.load(x_ptr + tl.where(valid, target, 0)).to(tl.float32)
    loss = log_total * LN2 + (peak - at)
    if eps > 0:
        loss += eps * (at - tl.sum(mean, axis=0))
    tl.store(stats_ptr + row, peak)
    tl.store(stats_ptr + m + row, log_total)
    tl.store(loss_ptr + row, tl.where(valid, loss, 0.0))


@triton.jit
def average(loss_ptr, t_ptr, out_ptr, m, skip, ROWS: tl.constexpr):
    total = 0.0
    count = 0.0
    for first in range(0, m, ROWS):
        row = first + tl.arange(0, ROWS)
        total += tl.sum(tl.load(loss_ptr + row, row < m, 0.0), axis=0)
        target = tl.load(t_ptr + row, row < m, skip)
        count += tl.sum((target != skip).to(tl.float32), axis=0)
    tl.store(out_ptr, total / count)
    tl.store(out_ptr + 1, count)


@triton.jit
def slopes(d_ptr, x_ptr, t_ptr, stats_ptr, out_ptr, dx_ptr, m, v, step, skip, eps, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    target = tl.load(t_ptr + row)
    x = tl.load(x_ptr + row * step + col, col < v).to(tl.float32)
    p = tl.exp2((x - tl.load(stats_ptr + row)) * LOG2E - tl.load(stats_ptr + m + row))
    slope = p - eps / v - (1 - eps) * (col == target).to(tl.float32)
    slope = slope * (tl.load(d_ptr) / tl.load(out_ptr + 1))
    tl.store(
        dx_ptr + row * v + col, tl.where(target == skip, 0.0, slope).to(dx_ptr.dtype.element_ty), col < v
    )


class Xent(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target, skip, eps):
        m, v = logits.shape
        stats = torch.empty((2, m), dtype=torch.float32, device=logits.device)
        losses = torch.empty(m, dtype=torch.float32, device=logits.device)
        out = torch.empty(2, dtype=torch.float32, device=logits.device)
        statistics[(m,)](
            logits, target, stats, losses, m, v, logits.stride(0), skip, eps, COLS=4096, num_warps=8
        )
        average[(1,)](losses, target, out, m, skip, ROWS=512)
        ctx.save_for_backward(logits, target, stats, out)
        ctx.rest = skip, eps
        return out[0]

    @staticmethod
    def backward(ctx, d):
        logits, target, stats, out = ctx.saved_tensors
        m, v = logits.shape
        dx = torch.empty((m, v), dtype=logits.dtype, device=logits.device)
        slopes[(m, triton.cdiv(v, 4096))](
            d, logits, target, stats, out, dx, m, v, logits.stride(0), *ctx.rest, COLS=4096, num_warps=8
        )
        return dx, None, None, None


cross_entropy = Xent.apply
