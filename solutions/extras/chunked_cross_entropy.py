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
    # 64 bits: a row may start 2**31 elements or more after the first one.
    row = (tl.program_id(0) // n_chunks).to(tl.int64)
    first = tl.program_id(0) % n_chunks * chunk
    end = tl.minimum(first + chunk, n_cols)
    # Each lane reads four elements at once and keeps a maximum and a sum of its own: no barrier in the loop.
    # A maximum that stays finite is never subtracted from its like: no -inf - (-inf), no inf - inf.
    LANES: tl.constexpr = BLOCK_N // 4
    offs_n = tl.arange(0, 4)[:, None] * LANES + tl.arange(0, LANES)[None, :]
    m_i = tl.full((LANES,), -HIGHEST, tl.float32)
    l_i = tl.zeros((LANES,), tl.float32)
    # The only read of the logits: a chunk of them from HBM, whatever the row is long.
    for start in range(first, end, BLOCK_N):
        cols = start + offs_n
        x = tl.load(logits_ptr + row * stride_m + cols, mask=cols < end, other=-float("inf")).to(tl.float32)
        m_new = tl.minimum(tl.maximum(m_i, tl.max(x, axis=0)), HIGHEST)
        p = tl.exp2((x - m_new[None, :]) * LOG2_E)
        l_i = l_i * tl.exp2((m_i - m_new) * LOG2_E) + tl.sum(p, axis=0)
        m_i = m_new
    m = tl.max(m_i, axis=0)
    # 8 bytes a chunk, in a place of its own.
    tl.store(max_ptr + tl.program_id(0), m)
    tl.store(sum_ptr + tl.program_id(0), tl.sum(l_i * tl.exp2((m_i - m) * LOG2_E), axis=0))


@triton.jit
def merge_kernel(
    logits_ptr, target_ptr, max_ptr, sum_ptr, loss_ptr, lse_ptr, n_chunks, stride_m, BLOCK_C: tl.constexpr
):
    """Loss and logsumexp of one row, from the maxima and sums of its chunks."""
    row = tl.program_id(0).to(tl.int64)
    m_i = tl.full((BLOCK_C,), -HIGHEST, tl.float32)
    l_i = tl.zeros((BLOCK_C,), tl.float32)
    for start in range(0, n_chunks, BLOCK_C):
        index = start + tl.arange(0, BLOCK_C)
        # A chunk that is not there is one of -inf alone: the lowest maximum, and a sum of 0.
        m_c = tl.load(max_ptr + row * n_chunks + index, mask=index < n_chunks, other=-HIGHEST)
        l_c = tl.load(sum_ptr + row * n_chunks + index, mask=index < n_chunks, other=0.0)
        m_new = tl.maximum(m_i, m_c)
        l_i = l_i * tl.exp2((m_i - m_new) * LOG2_E) + l_c * tl.exp2((m_c - m_new) * LOG2_E)
        m_i = m_new
    m = tl.max(m_i, axis=0)
    log_l = tl.log(tl.sum(l_i * tl.exp2((m_i - m) * LOG2_E), axis=0))
    # One logit, wherever it lies: only this program looks for it.
    x_target = tl.load(logits_ptr + row * stride_m + tl.load(target_ptr + row)).to(tl.float32)
    # log l + (m - x), never (m + log l) - x: beside an m of 1e4 log l would lose its digits.
    tl.store(loss_ptr + row, log_l + (m - x_target))
    tl.store(lse_ptr + row, log_l + m)


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
    # On axis 0 alone: with chunks of 1 there may be more than the 65535 programs of another axis.
    BLOCK_N = min(max(chunk, 4), 8192)
    chunk_kernel[(n_rows * n_chunks,)](
        logits,
        maxima,
        sums,
        n_cols,
        n_chunks,
        chunk,
        stride_m,
        BLOCK_N=BLOCK_N,
        num_warps=max(BLOCK_N // 1024, 1),
    )
    BLOCK_C = min(triton.next_power_of_2(n_chunks), 1024)
    merge_kernel[(n_rows,)](
        logits, target, maxima, sums, loss, lse, n_chunks, stride_m, BLOCK_C=BLOCK_C, num_warps=1
    )
    return loss, lse
