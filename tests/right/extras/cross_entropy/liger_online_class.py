"""Cross-entropy, online softmax with a scalar pair a row, loops of blocks, int64 rows, a Function.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def ce_forward(
    X, X_stride, Y, loss_ptr, m_ptr, d_ptr, n_cols, ignore_index, smoothing, BLOCK_SIZE: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    X += row * X_stride
    y = tl.load(Y + row)
    if y == ignore_index:
        tl.store(loss_ptr + row, 0.0)
        tl.store(m_ptr + row, 0.0)
        tl.store(d_ptr + row, 1.0)
        return
    m = -3.4028234663852886e38
    d = 0.0
    x_sum = 0.0
    for i in range(0, n_cols, BLOCK_SIZE):
        offsets = i + tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_cols
        x = tl.load(X + offsets, mask=mask, other=float("-inf")).to(tl.float32)
        if smoothing > 0:
            x_sum += tl.sum(tl.where(mask, x, 0.0))
        m_new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        m = m_new
    x_y = tl.load(X + y).to(tl.float32)
    loss = tl.log(d) + (m - x_y)
    if smoothing > 0:
        loss = tl.log(d) + (1 - smoothing) * (m - x_y) + smoothing * (m - x_sum / n_cols)
    tl.store(loss_ptr + row, loss)
    tl.store(m_ptr + row, m)
    tl.store(d_ptr + row, d)


@triton.jit
def ce_mean(loss_ptr, Y, out_ptr, count_ptr, n_rows, ignore_index, BLOCK_SIZE: tl.constexpr):
    total = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    count = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    for i in range(0, n_rows, BLOCK_SIZE):
        offsets = i + tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_rows
        total += tl.load(loss_ptr + offsets, mask=mask, other=0.0)
        count += (mask & (tl.load(Y + offsets, mask=mask, other=0) != ignore_index)).to(tl.float32)
    n = tl.sum(count)
    tl.store(count_ptr, n)
    tl.store(out_ptr, tl.sum(total) / n)


@triton.jit
def ce_backward(
    dX,
    dX_stride,
    X,
    X_stride,
    Y,
    dloss,
    m_ptr,
    d_ptr,
    count_ptr,
    n_cols,
    ignore_index,
    smoothing,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_cols
    y = tl.load(Y + row)
    dX += row * dX_stride
    if y == ignore_index:
        tl.store(dX + cols, tl.zeros((BLOCK,), tl.float32), mask=mask)
        return
    x = tl.load(X + row * X_stride + cols, mask=mask, other=float("-inf")).to(tl.float32)
    p = tl.exp(x - tl.load(m_ptr + row)) / tl.load(d_ptr + row)
    grad = p - smoothing / n_cols - tl.where(cols == y, 1.0 - smoothing, 0.0)
    tl.store(dX + cols, grad * (tl.load(dloss) / tl.load(count_ptr)), mask=mask)


class FastCrossEntropyLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, labels, ignore_index, smoothing):
        n_rows, n_cols = logits.shape
        loss, m, d = (torch.empty(n_rows, dtype=torch.float32, device=logits.device) for _ in range(3))
        out, count = (torch.empty((), dtype=torch.float32, device=logits.device) for _ in range(2))
        BLOCK_SIZE = min(16384, triton.next_power_of_2(n_cols))
        num_warps = 32 if BLOCK_SIZE >= 8192 else 8
        args = (n_cols, ignore_index, smoothing, BLOCK_SIZE)
        ce_forward[(n_rows,)](logits, logits.stride(0), labels, loss, m, d, *args, num_warps=num_warps)
        ce_mean[(1,)](loss, labels, out, count, n_rows, ignore_index, BLOCK_SIZE=1024)
        ctx.save_for_backward(logits, labels, m, d, count)
        ctx.args = ignore_index, smoothing
        return out

    @staticmethod
    def backward(ctx, dloss):
        logits, labels, m, d, count = ctx.saved_tensors
        n_rows, n_cols = logits.shape
        dX = torch.empty((n_rows, n_cols), dtype=logits.dtype, device=logits.device)
        BLOCK = min(4096, triton.next_power_of_2(n_cols))
        grid = (n_rows, triton.cdiv(n_cols, BLOCK))
        strides = (dX, dX.stride(0), logits, logits.stride(0))
        ce_backward[grid](*strides, labels, dloss, m, d, count, n_cols, *ctx.args, BLOCK=BLOCK, num_warps=8)
        return dX, None, None, None


def cross_entropy(logits, target, ignore_index=-100, label_smoothing=0.0):
    return FastCrossEntropyLoss.apply(logits, target, ignore_index, label_smoothing)
