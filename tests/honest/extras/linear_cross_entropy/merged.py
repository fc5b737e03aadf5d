"""Extra: the same chunks, merged by the logarithms of their sums; dx is rounded by a kernel of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable

LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def merge(
    logits_ptr,
    target_ptr,
    lse_ptr,
    aim_ptr,
    first,
    width,
    n_rows,
    BLOCK_T: tl.constexpr,
    BLOCK_V: tl.constexpr,
):
    """lse = log(exp(lse) + sum of exp(logits)) for BLOCK_T rows, whether they count or not."""
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    here = t < n_rows
    lse = tl.load(lse_ptr + t, mask=here, other=0.0)
    at = tl.load(target_ptr + t, mask=here, other=-1) - first
    aim = tl.load(aim_ptr + t, mask=here, other=0.0)
    for start in range(0, width, BLOCK_V):
        v = start + tl.arange(0, BLOCK_V)
        mask = here[:, None] & (v < width)[None, :]
        place = t.to(tl.int64)[:, None] * width + v[None, :]
        z = tl.load(logits_ptr + place, mask=mask, other=-float("inf")).to(tl.float32)
        top = tl.maximum(tl.max(z, axis=1), lse)
        top = tl.where(top == -float("inf"), 0.0, top)
        lse = top + tl.log(tl.exp(lse - top) + tl.sum(tl.exp(z - top[:, None]), axis=1))
        aim += tl.sum(tl.where((v[None, :] == at[:, None]) & mask, z, 0.0), axis=1)
    tl.store(lse_ptr + t, lse, mask=here)
    tl.store(aim_ptr + t, aim, mask=here)


@triton.jit
def finish(target_ptr, lse_ptr, aim_ptr, mean_ptr, count_ptr, n_rows, ignore_index, BLOCK: tl.constexpr):
    total, count = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n_rows, BLOCK):
        t = start + tl.arange(0, BLOCK)
        used = tl.load(target_ptr + t, mask=t < n_rows, other=ignore_index) != ignore_index
        total += tl.load(lse_ptr + t, mask=used, other=0.0) - tl.load(aim_ptr + t, mask=used, other=0.0)
        count += used.to(tl.float32)
    tl.store(count_ptr, tl.sum(count, axis=0))
    tl.store(mean_ptr, tl.sum(total, axis=0) / tl.sum(count, axis=0))


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


def chunks(n_classes: int) -> Iterator[slice]:
    """Slices of the classes, whole tiles of 64 but the last, of which a chunk of logits is 1/24 of all."""
    width = triton.cdiv(n_classes, 24 * 64) * 64
    for first in range(0, n_classes, width):
        yield slice(first, min(first + width, n_classes))


class LinearCrossEntropy(torch.autograd.Function):
    """Tells autograd how the loss is computed, and its gradients."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, weight: torch.Tensor, target: torch.Tensor, ignore_index: int
    ) -> torch.Tensor:
        n_rows = len(x)
        lse = torch.full((n_rows,), -float("inf"), dtype=torch.float32, device=x.device)
        aims = torch.zeros(n_rows, dtype=torch.float32, device=x.device)
        mean, count = (torch.empty((), dtype=torch.float32, device=x.device) for _ in range(2))
        for chunk in chunks(len(weight)):
            logits = torch.mm(x, weight[chunk].t())
            width = chunk.stop - chunk.start
            grid = (triton.cdiv(n_rows, 4),)
            merge[grid](logits, target, lse, aims, chunk.start, width, n_rows, BLOCK_T=4, BLOCK_V=512)
            del logits
        finish[(1,)](target, lse, aims, mean, count, n_rows, ignore_index, BLOCK=512)
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
        for chunk in chunks(n_classes):
            # Computed again: 2thv operations more, and t * v numbers that nobody had to keep.
            logits = torch.mm(x, weight[chunk].t())
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
                add(torch.mm(logits, weight[chunk]), total, total)
            if dweight is not None:
                # The rows of a chunk are done at once.
                add(torch.mm(logits.t(), x), None, dweight[chunk])
            del logits
        if dx is not None:
            add(total, None, dx)
        return dx, dweight, None, None


def linear_cross_entropy(
    x: torch.Tensor, weight: torch.Tensor, target: torch.Tensor, ignore_index: int
) -> torch.Tensor:
    """Return the mean cross-entropy of x[t, h] @ weight[v, h].T and target[t], fp32 [], of rows in use."""
    return LinearCrossEntropy.apply(x, weight, target, ignore_index)
