"""Extra: weighted binary cross-entropy of logits: an exponential that never overflows, both passes fused."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


@triton.jit
def two_losses(x):
    """-log sigmoid(x) and -log sigmoid(-x) of fp32 x: what it costs if the answer is yes, and if it is no."""
    # TODO 1: both, finite for every finite x, and right where they are tiny. NaN stays NaN.


@triton.jit
def place(n_rows, n_cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Columns of this program's tile, where its elements lie, and which of them there are."""
    # TODO 2: which tile is this? Its columns; where each element lies; and which are inside.


@triton.jit
def loss_kernel(
    x_ptr,
    target_ptr,
    weight_ptr,
    pos_weight_ptr,
    part_ptr,
    n_rows,
    n_cols,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """Part pid: the sum of the losses in one tile of [BLOCK_M, BLOCK_N] elements."""
    # TODO 3: the losses of this tile, weighted where there are weights.
    # TODO 4: their sum, to this program's own place; what is not there costs nothing.


@triton.jit
def mean_kernel(part_ptr, mean_ptr, n_parts, count, BLOCK: tl.constexpr):
    """The sum of all parts over the number of elements, by one program: 4 bytes for 2048 of them."""
    # TODO 5: add up all parts, and divide.


@triton.jit
def backward_kernel(
    dmean_ptr,
    x_ptr,
    target_ptr,
    weight_ptr,
    pos_weight_ptr,
    dx_ptr,
    n_rows,
    n_cols,
    count,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """dx of one tile: (1 - t) * sigmoid(x) - pos_weight * t * sigmoid(-x), weighted, times dmean / count."""
    # TODO 6: the slope of each element, from logit and target alone; weights; upstream.


def tile(n_rows: int, n_cols: int) -> tuple[int, int, int]:
    """Return the number of tiles of 2048 elements that cover [n_rows, n_cols], and their height and width."""
    BLOCK_N = min(triton.next_power_of_2(max(n_cols, 1)), 1024)
    BLOCK_M = 2048 // BLOCK_N
    return triton.cdiv(n_rows, BLOCK_M) * triton.cdiv(n_cols, BLOCK_N), BLOCK_M, BLOCK_N


class WeightedBCE(torch.autograd.Function):
    """Tells autograd which kernels compute the loss, and which its gradient."""

    @staticmethod
    def forward(
        ctx: Any,
        logits: torch.Tensor,
        target: torch.Tensor,
        weight: torch.Tensor | None,
        pos_weight: torch.Tensor | None,
    ) -> torch.Tensor:
        n_rows, n_cols = logits.shape
        tiles, BLOCK_M, BLOCK_N = tile(n_rows, n_cols)
        part = torch.empty(tiles, dtype=torch.float32, device=logits.device)
        mean = torch.empty((), dtype=torch.float32, device=logits.device)
        loss_kernel[(tiles,)](
            logits,
            target,
            weight,
            pos_weight,
            part,
            n_rows,
            n_cols,
            BLOCK_M=BLOCK_M,
            BLOCK_N=BLOCK_N,
            num_warps=4,
        )
        mean_kernel[(1,)](part, mean, tiles, n_rows * n_cols, BLOCK=16384, num_warps=32)
        ctx.save_for_backward(logits, target, weight, pos_weight)
        return mean

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dmean: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        logits, target, weight, pos_weight = ctx.saved_tensors
        n_rows, n_cols = logits.shape
        dlogits = torch.empty(n_rows, n_cols, dtype=logits.dtype, device=logits.device)
        tiles, BLOCK_M, BLOCK_N = tile(n_rows, n_cols)
        backward_kernel[(tiles,)](
            dmean,
            logits,
            target,
            weight,
            pos_weight,
            dlogits,
            n_rows,
            n_cols,
            n_rows * n_cols,
            BLOCK_M=BLOCK_M,
            BLOCK_N=BLOCK_N,
            num_warps=4,
        )
        return dlogits, None, None, None


def weighted_bce(
    logits: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None,
    pos_weight: torch.Tensor | None,
) -> torch.Tensor:
    """Return the mean binary cross-entropy of logits[m, n], fp32 []; positives count pos_weight[n] times."""
    return WeightedBCE.apply(logits, target, weight, pos_weight)
