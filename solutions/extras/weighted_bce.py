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
    # At most 1, whatever x is.
    e = tl.exp(-tl.abs(x))
    # log(1 + e) is 2 artanh(r), r at most 1/3: six terms of the series have all digits of fp32, also where
    # 1 + e forgets a small e. tl.log alone takes 25 instructions.
    r = e / (2 + e)
    s = r * r
    log1p = 2 * r * (1 + s * (1 / 3 + s * (1 / 5 + s * (1 / 7 + s * (1 / 9 + s * (1 / 11))))))
    # Not tl.maximum, in which a NaN would vanish: in e it stays.
    return tl.where(x < 0, -x, 0.0) + log1p, tl.where(x > 0, x, 0.0) + log1p


@triton.jit
def place(n_rows, n_cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Columns of this program's tile, where its elements lie, and which of them there are."""
    strips = tl.cdiv(n_cols, BLOCK_N)
    pid = tl.program_id(0)
    # 64 bits: there may be 2**31 elements or more.
    offs_m = (pid // strips).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid % strips * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m < n_rows)[:, None] & (offs_n < n_cols)[None, :]
    return offs_n, offs_m[:, None] * n_cols + offs_n[None, :], mask


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
    offs_n, at, mask = place(n_rows, n_cols, BLOCK_M, BLOCK_N)
    # 8 bytes an element of fp32 from HBM, the only read of the forward pass; 12 with weights.
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    t = tl.load(target_ptr + at, mask=mask, other=0.0).to(tl.float32)
    if_yes, if_no = two_losses(x)
    if pos_weight_ptr is not None:
        if_yes *= tl.load(pos_weight_ptr + offs_n, mask=offs_n < n_cols, other=0.0).to(tl.float32)[None, :]
    loss = t * if_yes + (1 - t) * if_no
    if weight_ptr is not None:
        loss *= tl.load(weight_ptr + at, mask=mask, other=0.0).to(tl.float32)
    # An element that is not there has a logit of 0, and would cost log 2.
    loss = tl.where(mask, loss, 0.0)
    tl.store(part_ptr + tl.program_id(0), tl.sum(tl.sum(loss, axis=1), axis=0))


@triton.jit
def mean_kernel(part_ptr, mean_ptr, n_parts, count, BLOCK: tl.constexpr):
    """The sum of all parts over the number of elements, by one program: 4 bytes for 2048 of them."""
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n_parts, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        acc += tl.load(part_ptr + offs, mask=offs < n_parts, other=0.0)
    # 0 / 0 is NaN, as torch has it for the mean of nothing.
    tl.store(mean_ptr, tl.sum(acc, axis=0) / count)


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
    offs_n, at, mask = place(n_rows, n_cols, BLOCK_M, BLOCK_N)
    # 8 bytes in and 4 out. Nothing was stored on the way: an exponential costs no byte.
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    t = tl.load(target_ptr + at, mask=mask, other=0.0).to(tl.float32)
    if_yes = t * tl.sigmoid(-x)
    if pos_weight_ptr is not None:
        if_yes *= tl.load(pos_weight_ptr + offs_n, mask=offs_n < n_cols, other=0.0).to(tl.float32)[None, :]
    # Two products that vanish where the answer is right: nothing is subtracted from 1.
    slope = (1 - t) * tl.sigmoid(x) - if_yes
    if weight_ptr is not None:
        slope *= tl.load(weight_ptr + at, mask=mask, other=0.0).to(tl.float32)
    # On the device: the host never waits for the upstream gradient.
    tl.store(dx_ptr + at, slope * (tl.load(dmean_ptr) / count), mask=mask)


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
