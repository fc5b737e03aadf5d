"""Extra: chunks of columns as ever, but multiplied in fp32, where no matrix unit helps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable

LOG2_E = tl.constexpr(1.4426950408889634)
LOWEST = tl.constexpr(-3.4028234e38)  # the lowest finite fp32


@triton.jit
def chunk_loss_kernel(
    logits_ptr,
    target_ptr,
    max_ptr,
    sum_ptr,
    aim_ptr,
    first,
    n_cols,
    ignore_index,
    BLOCK_N: tl.constexpr,
):
    """Take logits[t, n_cols], the columns from `first` on, into each row's maximum, sum and aimed logit."""
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(target_ptr + row)
    if target != ignore_index:
        m_i = tl.load(max_ptr + row)
        l_i = tl.load(sum_ptr + row)
        logits_ptr += row * n_cols
        # The product has just written this chunk: much of it is still in L2.
        for start in range(0, n_cols, BLOCK_N):
            cols = start + tl.arange(0, BLOCK_N)
            x = tl.load(logits_ptr + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
            m_new = tl.maximum(m_i, tl.max(x, axis=0))
            l_i = l_i * tl.exp2((m_i - m_new) * LOG2_E) + tl.sum(tl.exp2((x - m_new) * LOG2_E), axis=0)
            m_i = m_new
        tl.store(max_ptr + row, m_i)
        tl.store(sum_ptr + row, l_i)
        # One chunk of all has the target's column.
        at = target - first
        mine = (at >= 0) & (at < n_cols)
        tl.store(aim_ptr + row, tl.load(logits_ptr + at, mask=mine, other=0.0).to(tl.float32), mask=mine)


@triton.jit
def start_kernel(max_ptr, sum_ptr, n_rows, BLOCK_M: tl.constexpr):
    """What is known of rows before the first chunk."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    tl.store(max_ptr + rows, tl.full((BLOCK_M,), LOWEST, tl.float32), mask=rows < n_rows)
    tl.store(sum_ptr + rows, tl.zeros((BLOCK_M,), tl.float32), mask=rows < n_rows)


@triton.jit
def mean_kernel(
    target_ptr,
    max_ptr,
    sum_ptr,
    aim_ptr,
    lse_ptr,
    mean_ptr,
    count_ptr,
    n_rows,
    ignore_index,
    BLOCK_M: tl.constexpr,
):
    """The mean loss of the rows that count, by one program; their logsumexps and their number are kept."""
    loss = tl.zeros((BLOCK_M,), tl.float32)
    count = tl.zeros((BLOCK_M,), tl.int32)
    for start in range(0, n_rows, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        target = tl.load(target_ptr + rows, mask=rows < n_rows, other=ignore_index)
        counts = target != ignore_index
        m = tl.load(max_ptr + rows, mask=counts, other=0.0)
        log_l = tl.log(tl.load(sum_ptr + rows, mask=counts, other=1.0))
        loss += log_l + (m - tl.load(aim_ptr + rows, mask=counts, other=0.0))
        count += counts.to(tl.int32)
        tl.store(lse_ptr + rows, m + log_l, mask=counts)
    n_valid = tl.sum(count, axis=0).to(tl.float32)
    # 0 / 0 is NaN, as torch has it where no row is left.
    tl.store(mean_ptr, tl.sum(loss, axis=0) / n_valid)
    tl.store(count_ptr, n_valid)


@triton.jit
def chunk_grad_kernel(
    dloss_ptr,
    logits_ptr,
    target_ptr,
    lse_ptr,
    count_ptr,
    first,
    n_cols,
    ignore_index,
    BLOCK_N: tl.constexpr,
):
    """Replace logits[t, n_cols] of a chunk by their gradients, (softmax - target) * dloss / count."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = cols < n_cols
    logits_ptrs = logits_ptr + row * n_cols + cols
    target = tl.load(target_ptr + row)
    if target != ignore_index:
        scale = tl.load(dloss_ptr) / tl.load(count_ptr)
        x = tl.load(logits_ptrs, mask=mask, other=0.0).to(tl.float32)
        p = tl.exp2((x - tl.load(lse_ptr + row)) * LOG2_E)
        # In place: a second tensor would cost a chunk more of memory, and the cache.
        tl.store(logits_ptrs, (p - tl.where(cols + first == target, 1.0, 0.0)) * scale, mask=mask)
    else:
        tl.store(logits_ptrs, tl.zeros((BLOCK_N,), tl.float32), mask=mask)


@triton.jit
def sum_kernel(part_ptr, total_ptr, out_ptr, n, ADD: tl.constexpr, BLOCK: tl.constexpr):
    """out = total + part, or part alone where there is nothing to add it to; rounded in its store."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    part = tl.load(part_ptr + offs, mask=offs < n, other=0.0).to(tl.float32)
    if ADD:
        part += tl.load(total_ptr + offs, mask=offs < n, other=0.0)
    tl.store(out_ptr + offs, part, mask=offs < n)


def add(part: torch.Tensor, total: torch.Tensor | None, out: torch.Tensor) -> None:
    """Store part + total, or part, in out; contiguous tensors of as many elements."""
    grid = (triton.cdiv(part.numel(), 2048),)
    given = part if total is None else total
    sum_kernel[grid](part, given, out, part.numel(), ADD=total is not None, BLOCK=2048, num_warps=8)


def wide(part: torch.Tensor) -> torch.Tensor:
    """A copy in fp32."""
    out = torch.empty(part.shape, dtype=torch.float32, device=part.device)
    add(part, None, out)
    return out


def chunks(n_classes: int) -> Iterator[slice]:
    """Slices of the classes, whole tiles of 64 but the last, of which a chunk of logits is 1/32 of all."""
    width = triton.cdiv(n_classes, 32 * 64) * 64
    for first in range(0, n_classes, width):
        yield slice(first, min(first + width, n_classes))


class LinearCrossEntropy(torch.autograd.Function):
    """Tells autograd how the loss is computed, and its gradients."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, weight: torch.Tensor, target: torch.Tensor, ignore_index: int
    ) -> torch.Tensor:
        n_rows = len(x)
        maxima, sums, aims, lse = (
            torch.empty(n_rows, dtype=torch.float32, device=x.device) for _ in range(4)
        )
        mean, count = (torch.empty((), dtype=torch.float32, device=x.device) for _ in range(2))
        start_kernel[(triton.cdiv(n_rows, 1024),)](maxima, sums, n_rows, BLOCK_M=1024)
        x32 = wide(x)
        for chunk in chunks(len(weight)):
            # t * v / 32 numbers, written once and read once; the next chunk gets the same memory.
            rows = wide(weight[chunk])
            logits = torch.mm(x32, rows.t())
            chunk_loss_kernel[(n_rows,)](
                logits,
                target,
                maxima,
                sums,
                aims,
                chunk.start,
                logits.shape[1],
                ignore_index,
                BLOCK_N=2048,
                num_warps=4,
            )
            del logits, rows
        mean_kernel[(1,)](target, maxima, sums, aims, lse, mean, count, n_rows, ignore_index, BLOCK_M=1024)
        # 4 bytes a row beside x, weight and target, which exist anyway.
        ctx.save_for_backward(x, weight, target, lse, count)
        ctx.ignore_index = ignore_index
        return mean

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dloss: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, weight = ctx.saved_tensors[:2]
        wants_x, wants_weight = ctx.needs_input_grad[:2]
        dx = torch.empty(x.shape, dtype=x.dtype, device=x.device) if wants_x else None
        dweight = torch.empty(weight.shape, dtype=x.dtype, device=x.device) if wants_weight else None
        target, lse, count = ctx.saved_tensors[2:]
        n_rows, n_classes = len(x), len(weight)
        # dx sums over all chunks: in fp32, which is t * h numbers.
        total = torch.zeros(x.shape, dtype=torch.float32, device=x.device) if wants_x else None
        x32 = wide(x)
        for chunk in chunks(n_classes):
            # Computed again: 2thv operations more, and t * v numbers that nobody had to keep.
            rows = wide(weight[chunk])
            logits = torch.mm(x32, rows.t())
            chunk_grad_kernel[(n_rows, triton.cdiv(logits.shape[1], 2048))](
                dloss,
                logits,
                target,
                lse,
                count,
                chunk.start,
                logits.shape[1],
                ctx.ignore_index,
                BLOCK_N=2048,
                num_warps=4,
            )
            if dx is not None:
                add(torch.mm(logits, rows), total, dx if chunk.stop == n_classes else total)
            if dweight is not None:
                # The rows of a chunk are done at once.
                add(torch.mm(logits.t(), x32), None, dweight[chunk])
            del logits, rows
        return dx, dweight, None, None


def linear_cross_entropy(
    x: torch.Tensor, weight: torch.Tensor, target: torch.Tensor, ignore_index: int
) -> torch.Tensor:
    """Return the mean cross-entropy of x[t, h] @ weight[v, h].T and target[t], fp32 [], of rows in use."""
    return LinearCrossEntropy.apply(x, weight, target, ignore_index)
