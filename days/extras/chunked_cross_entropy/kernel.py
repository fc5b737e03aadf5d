"""Extra: cross-entropy of few, wide rows; a program reads a chunk of one, and then the parts merge."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)
HIGHEST = tl.constexpr(3.4028234e38)  # the highest finite fp32


@triton.jit
def chunk_kernel(logits_ptr, max_ptr, sum_ptr, n_cols, n_chunks, chunk, stride_m, BLOCK_N: tl.constexpr):
    """Maximum, and sum of exponentials below it, of one chunk: columns of one row, from index * chunk on."""
    # TODO 1: which row is it, and which chunk of it? Where does the chunk begin, and where does it end?
    # TODO 2: walk along it: its maximum, and the sum of exponentials below it. It may hold nothing but -inf.
    # TODO 3: store both where no other program stores.


@triton.jit
def merge_kernel(
    logits_ptr, target_ptr, max_ptr, sum_ptr, loss_ptr, lse_ptr, n_chunks, stride_m, BLOCK_C: tl.constexpr
):
    """Loss and logsumexp of one row, from the maxima and sums of its chunks."""
    # TODO 4: merge the maxima and sums of all chunks of the row; there may be more than BLOCK_C.
    # TODO 5: find the logit at the target, and store loss and logsumexp.


def chunked_cross_entropy(
    logits: torch.Tensor, target: torch.Tensor, chunk: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return loss[m] and lse[m], fp32, of logits[m, v] and target[m]; a program reads a chunk of a row."""
    n_rows, n_cols = logits.shape
    n_chunks = triton.cdiv(n_cols, chunk)
    maxima = torch.empty(n_rows, n_chunks, dtype=torch.float32, device=logits.device)
    sums = torch.empty_like(maxima)
    loss = torch.empty(n_rows, dtype=torch.float32, device=logits.device)
    lse = torch.empty_like(loss)
    stride_m = logits.stride(0)
    # TODO 6: launch a program for each chunk of each row, then one for each row.
    return loss, lse
