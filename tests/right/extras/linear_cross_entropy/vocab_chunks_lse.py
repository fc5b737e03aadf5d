"""Fused linear cross-entropy by chunks of the vocabulary: running (max, sum), fp32 dx by a kernel; int32.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def chunk_forward(
    logits_ptr,
    target_ptr,
    m_ptr,
    d_ptr,
    xy_ptr,
    lo,
    width,
    ignore_index,
    FIRST: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    y = tl.load(target_ptr + row)
    logits_ptr += row * width
    m = float("-inf")
    d = 0.0
    xy = 0.0
    if not FIRST:
        m = tl.load(m_ptr + row)
        d = tl.load(d_ptr + row)
        xy = tl.load(xy_ptr + row)
    if y != ignore_index:
        for i in range(0, width, BLOCK):
            offs = i + tl.arange(0, BLOCK)
            x = tl.load(logits_ptr + offs, mask=offs < width, other=float("-inf")).to(tl.float32)
            m_new = tl.maximum(m, tl.max(x))
            d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
            m = m_new
        if (y >= lo) & (y < lo + width):
            xy = tl.load(logits_ptr + y - lo).to(tl.float32)
    tl.store(m_ptr + row, m)
    tl.store(d_ptr + row, d)
    tl.store(xy_ptr + row, xy)


@triton.jit
def finish(
    target_ptr, m_ptr, d_ptr, xy_ptr, lse_ptr, loss_ptr, count_ptr, T, ignore_index, BLOCK: tl.constexpr
):
    total = tl.zeros((BLOCK,), tl.float32)
    count = tl.zeros((BLOCK,), tl.float32)
    for i in range(0, T, BLOCK):
        rows = i + tl.arange(0, BLOCK)
        keep = tl.load(target_ptr + rows, mask=rows < T, other=ignore_index) != ignore_index
        m = tl.load(m_ptr + rows, mask=keep, other=0.0)
        logd = tl.log(tl.load(d_ptr + rows, mask=keep, other=1.0))
        total += tl.where(keep, m - tl.load(xy_ptr + rows, mask=keep, other=0.0) + logd, 0.0)
        count += tl.where(keep, 1.0, 0.0)
        tl.store(lse_ptr + rows, m + logd, mask=rows < T)
    n = tl.sum(count)
    tl.store(count_ptr, n)
    tl.store(loss_ptr, tl.sum(total) / n)


@triton.jit
def chunk_backward(
    logits_ptr, target_ptr, lse_ptr, dloss_ptr, count_ptr, lo, width, ignore_index, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    y = tl.load(target_ptr + row)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < width
    ptrs = logits_ptr + row * width + cols
    if y == ignore_index:
        tl.store(ptrs, tl.zeros((BLOCK,), logits_ptr.dtype.element_ty), mask=mask)
    else:
        p = tl.exp(tl.load(ptrs, mask=mask, other=0.0).to(tl.float32) - tl.load(lse_ptr + row))
        g = tl.load(dloss_ptr) / tl.load(count_ptr)
        tl.store(ptrs, tl.where(cols + lo == y, p - 1.0, p) * g, mask=mask)


@triton.jit
def accumulate(acc_ptr, part_ptr, out_ptr, n, FIRST: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(part_ptr + offs, mask=offs < n, other=0.0).to(tl.float32)
    if not FIRST:
        x += tl.load(acc_ptr + offs, mask=offs < n, other=0.0)
    tl.store(out_ptr + offs, x.to(out_ptr.dtype.element_ty), mask=offs < n)


def chunks(V, n_chunks=24):
    step = triton.cdiv(triton.cdiv(V, n_chunks), 64) * 64
    return [(lo, min(step, V - lo)) for lo in range(0, V, step)]


class FusedLinearCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, target, ignore_index):
        T, V = x.shape[0], weight.shape[0]
        m, d, xy, lse = (torch.empty(T, dtype=torch.float32, device=x.device) for _ in range(4))
        loss, count = (torch.empty((), dtype=torch.float32, device=x.device) for _ in range(2))
        for lo, width in chunks(V):
            logits = torch.mm(x, weight[lo : lo + width].t())
            BLOCK = min(triton.next_power_of_2(width), 4096)
            chunk_forward[(T,)](
                logits, target, m, d, xy, lo, width, ignore_index, FIRST=lo == 0, BLOCK=BLOCK, num_warps=8
            )
            del logits
        finish[(1,)](target, m, d, xy, lse, loss, count, T, ignore_index, BLOCK=1024)
        ctx.save_for_backward(x, weight, target, lse, count)
        ctx.ignore_index = ignore_index
        return loss

    @staticmethod
    def backward(ctx, dloss):
        x, weight, target, lse, count = ctx.saved_tensors
        (T, H), V = x.shape, weight.shape[0]
        need_x, need_w = ctx.needs_input_grad[:2]
        dx = torch.empty_like(x) if need_x else None
        dw = torch.empty_like(weight) if need_w else None
        acc = torch.empty(T, H, dtype=torch.float32, device=x.device) if need_x else None
        parts = chunks(V)
        for lo, width in parts:
            w = weight[lo : lo + width]
            g = torch.mm(x, w.t())
            BLOCK = min(triton.next_power_of_2(width), 2048)
            chunk_backward[(T, triton.cdiv(width, BLOCK))](
                g, target, lse, dloss, count, lo, width, ctx.ignore_index, BLOCK=BLOCK
            )
            if need_x:
                part = torch.mm(g, w)
                out = dx if lo == parts[-1][0] else acc
                accumulate[(triton.cdiv(T * H, 2048),)](acc, part, out, T * H, FIRST=lo == 0, BLOCK=2048)
                del part
            if need_w:
                part = torch.mm(g.t(), x)
                view = dw[lo : lo + width]
                accumulate[(triton.cdiv(width * H, 2048),)](
                    view, part, view, width * H, FIRST=True, BLOCK=2048
                )
                del part
            del g
        return dx, dw, None, None


def linear_cross_entropy(x, weight, target, ignore_index):
    return FusedLinearCrossEntropy.apply(x, weight, target, ignore_index)
