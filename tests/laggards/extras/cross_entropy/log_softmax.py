"""The logarithm of softmax goes through memory in fp32; the forward pass is sound."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable

LOG2_E = tl.constexpr(1.4426950408889634)
LOWEST = tl.constexpr(-3.4028234e38)  # the lowest finite fp32


@triton.jit
def row_loss_kernel(
    logits_ptr,
    target_ptr,
    loss_ptr,
    max_ptr,
    sum_ptr,
    n_cols,
    stride_m,
    ignore_index,
    smoothing,
    SMOOTHED: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """Loss of one row; its maximum and sum of exponentials are kept. An ignored row is not even read."""
    # 64 bits: a row may start 2**31 elements or more after the first one.
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(target_ptr + row)
    loss = 0.0
    if target != ignore_index:
        # Each lane reads four elements at once and keeps a maximum and a sum of its own: no barrier in the
        # loop. Starting at a finite number never subtracts -inf from -inf.
        LANES: tl.constexpr = BLOCK_N // 4
        offs_n = tl.arange(0, 4)[:, None] * LANES + tl.arange(0, LANES)[None, :]
        logits_ptr += row * stride_m
        m_i = tl.full((LANES,), LOWEST, tl.float32)
        l_i = tl.zeros((LANES,), tl.float32)
        total = tl.zeros((LANES,), tl.float32)
        # n elements from HBM, the only read of the forward pass.
        for start in range(0, n_cols, BLOCK_N):
            cols = start + offs_n
            x = tl.load(logits_ptr + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
            m_new = tl.maximum(m_i, tl.max(x, axis=0))
            p = tl.exp2((x - m_new[None, :]) * LOG2_E)
            l_i = l_i * tl.exp2((m_i - m_new) * LOG2_E) + tl.sum(p, axis=0)
            m_i = m_new
            if SMOOTHED:
                total += tl.sum(tl.where(cols < n_cols, x, 0.0), axis=0)
        m = tl.max(m_i, axis=0)
        l_row = tl.sum(l_i * tl.exp2((m_i - m) * LOG2_E), axis=0)
        # log l + (m - x), never (m + log l) - x: beside an m of 1e4 log l would lose its digits.
        x_target = tl.load(logits_ptr + target).to(tl.float32)
        aim = x_target
        if SMOOTHED:
            aim = (1 - smoothing) * x_target + smoothing * (tl.sum(total, axis=0) / n_cols)
        loss = tl.log(l_row) + (m - aim)
        tl.store(max_ptr + row, m)
        tl.store(sum_ptr + row, l_row)
    tl.store(loss_ptr + row, loss)


@triton.jit
def mean_kernel(loss_ptr, target_ptr, mean_ptr, count_ptr, n_rows, ignore_index, BLOCK_M: tl.constexpr):
    """The mean over the rows that count, and their number, by one program: 12 bytes a row, not 2n."""
    loss = tl.zeros((BLOCK_M,), tl.float32)
    count = tl.zeros((BLOCK_M,), tl.int32)
    for start in range(0, n_rows, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        target = tl.load(target_ptr + rows, mask=rows < n_rows, other=ignore_index)
        loss += tl.load(loss_ptr + rows, mask=rows < n_rows, other=0.0)
        count += (target != ignore_index).to(tl.int32)
    n_valid = tl.sum(count, axis=0).to(tl.float32)
    # 0 / 0 is NaN, as torch has it where no row is left.
    tl.store(mean_ptr, tl.sum(loss, axis=0) / n_valid)
    tl.store(count_ptr, n_valid)


@triton.jit
def log_softmax_kernel(
    logits_ptr, target_ptr, max_ptr, sum_ptr, logp_ptr, n_cols, stride_m, ignore_index, BLOCK_N: tl.constexpr
):
    """Reads mv, writes mv in fp32."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    if tl.load(target_ptr + row) != ignore_index:
        x = tl.load(logits_ptr + row * stride_m + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
        logp = x - tl.load(max_ptr + row) - tl.log(tl.load(sum_ptr + row))
        tl.store(logp_ptr + row * n_cols + cols, logp, mask=cols < n_cols)


@triton.jit
def gradient_kernel(
    logp_ptr,
    target_ptr,
    dloss_ptr,
    count_ptr,
    dlogits_ptr,
    n_cols,
    ignore_index,
    smoothing,
    BLOCK_N: tl.constexpr,
):
    """Reads mv in fp32, writes mv."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    target = tl.load(target_ptr + row)
    y = tl.zeros((BLOCK_N,), tl.float32)
    if target != ignore_index:
        y = tl.exp(tl.load(logp_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0))
        y -= tl.where(cols == target, 1 - smoothing, 0.0) + smoothing / n_cols
        y *= tl.load(dloss_ptr) / tl.load(count_ptr)
    tl.store(dlogits_ptr + row * n_cols + cols, y, mask=cols < n_cols)


class CrossEntropy(torch.autograd.Function):
    """Tells autograd which kernels compute the loss, and which its gradient."""

    @staticmethod
    def forward(
        ctx: Any, logits: torch.Tensor, target: torch.Tensor, ignore_index: int, label_smoothing: float
    ) -> torch.Tensor:
        n_rows, n_cols = logits.shape
        losses, maxima, sums = (
            torch.empty(n_rows, dtype=torch.float32, device=logits.device) for _ in range(3)
        )
        mean, count = (torch.empty((), dtype=torch.float32, device=logits.device) for _ in range(2))
        BLOCK_N = min(max(triton.next_power_of_2(n_cols), 4), 8192)
        row_loss_kernel[(n_rows,)](
            logits,
            target,
            losses,
            maxima,
            sums,
            n_cols,
            logits.stride(0),
            ignore_index,
            label_smoothing,
            SMOOTHED=label_smoothing > 0,
            BLOCK_N=BLOCK_N,
            num_warps=max(BLOCK_N // 1024, 1),
        )
        mean_kernel[(1,)](losses, target, mean, count, n_rows, ignore_index, BLOCK_M=1024)
        # 8 bytes a row beside logits and target, which exist anyway.
        ctx.save_for_backward(logits, target, maxima, sums, count)
        ctx.numbers = ignore_index, label_smoothing
        return mean

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dloss: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        logits, target, maxima, sums, count = ctx.saved_tensors
        n_rows, n_cols = logits.shape
        dlogits = torch.empty(n_rows, n_cols, dtype=logits.dtype, device=logits.device)
        logp = torch.empty(n_rows, n_cols, dtype=torch.float32, device=logits.device)
        ignore_index, smoothing = ctx.numbers
        BLOCK_N = min(triton.next_power_of_2(n_cols), 4096)
        grid = (n_rows, triton.cdiv(n_cols, BLOCK_N))
        log_softmax_kernel[grid](
            logits, target, maxima, sums, logp, n_cols, logits.stride(0), ignore_index, BLOCK_N=BLOCK_N
        )
        gradient_kernel[grid](
            logp, target, dloss, count, dlogits, n_cols, ignore_index, smoothing, BLOCK_N=BLOCK_N
        )
        return dlogits, None, None, None


def cross_entropy(
    logits: torch.Tensor, target: torch.Tensor, ignore_index: int, label_smoothing: float
) -> torch.Tensor:
    """Return the mean cross-entropy of logits[m, v] and target[m], fp32 [], over targets != ignore_index."""
    return CrossEntropy.apply(logits, target, ignore_index, label_smoothing)
