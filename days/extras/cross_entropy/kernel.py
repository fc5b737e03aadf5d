"""Extra: cross-entropy of logits, read once forwards; its gradient is computed again, not stored."""

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
    # TODO 1: does this row count? One that is ignored has loss 0.
    # TODO 2: in one walk along the row: its maximum, and the sum of exponentials below it.
    # TODO 3: the loss: less the logit at the target or, SMOOTHED, less a share of the row's mean as well.
    # TODO 4: keep maximum and sum, and store the loss.


@triton.jit
def mean_kernel(loss_ptr, target_ptr, mean_ptr, count_ptr, n_rows, ignore_index, BLOCK_M: tl.constexpr):
    """The mean over the rows that count, and their number, by one program: 12 bytes a row, not 2n."""
    # TODO 5: add up the losses and count the rows; store the mean, and the count for backward.


@triton.jit
def backward_kernel(
    dloss_ptr,
    logits_ptr,
    target_ptr,
    max_ptr,
    sum_ptr,
    count_ptr,
    dlogits_ptr,
    n_cols,
    stride_m,
    ignore_index,
    smoothing,
    BLOCK_N: tl.constexpr,
):
    """BLOCK_N columns of one row: dlogits = (softmax - what is aimed at) * dloss / count."""
    # TODO 6: softmax once more, less what is aimed at, times dloss / count. Ignored rows get 0.


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
        BLOCK_N = min(triton.next_power_of_2(n_cols), 4096)
        backward_kernel[(n_rows, triton.cdiv(n_cols, BLOCK_N))](
            dloss,
            logits,
            target,
            maxima,
            sums,
            count,
            dlogits,
            n_cols,
            logits.stride(0),
            *ctx.numbers,
            BLOCK_N=BLOCK_N,
            num_warps=4,
        )
        return dlogits, None, None, None


def cross_entropy(
    logits: torch.Tensor, target: torch.Tensor, ignore_index: int, label_smoothing: float
) -> torch.Tensor:
    """Return the mean cross-entropy of logits[m, v] and target[m], fp32 [], over targets != ignore_index."""
    return CrossEntropy.apply(logits, target, ignore_index, label_smoothing)
