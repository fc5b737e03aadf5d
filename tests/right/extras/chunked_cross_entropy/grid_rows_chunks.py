"""Chunked cross-entropy on a grid (rows, chunks), int32 offsets, heuristics, exp2, a merge by row.

May have limits.
"""

import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)
MAX = tl.constexpr(3.4028234663852886e38)


@triton.heuristics(
    {
        "BLOCK": lambda args: min(args["CHUNK"], triton.next_power_of_2(args["V"]), 8192),
        "num_warps": lambda args: 16 if min(args["CHUNK"], args["V"]) >= 8192 else 4,
    }
)
@triton.jit
def _chunk_stats(logits_ptr, stride, max_ptr, sum_ptr, V, N_CHUNKS, CHUNK, BLOCK: tl.constexpr):
    row_idx = tl.program_id(0)
    chunk_idx = tl.program_id(1)
    logits_ptr += row_idx * stride
    start = chunk_idx * CHUNK
    end = tl.minimum(start + CHUNK, V)
    m = -MAX
    d = 0.0
    for i in range(start, end, BLOCK):
        cols = i + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + cols, mask=cols < end, other=-float("inf")).to(tl.float32)
        m_new = tl.minimum(tl.maximum(m, tl.max(x, 0)), MAX)
        d = d * tl.exp2((m - m_new) * LOG2E) + tl.sum(tl.exp2((x - m_new) * LOG2E), 0)
        m = m_new
    tl.store(max_ptr + row_idx * N_CHUNKS + chunk_idx, m)
    tl.store(sum_ptr + row_idx * N_CHUNKS + chunk_idx, d)


@triton.jit
def _merge_chunks(
    logits_ptr, stride, labels_ptr, max_ptr, sum_ptr, loss_ptr, lse_ptr, N_CHUNKS, BLOCK: tl.constexpr
):
    row_idx = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    m = tl.full((BLOCK,), -MAX, tl.float32)
    d = tl.zeros((BLOCK,), tl.float32)
    for i in range(0, N_CHUNKS, BLOCK):
        mask = i + offsets < N_CHUNKS
        m_i = tl.load(max_ptr + row_idx * N_CHUNKS + i + offsets, mask=mask, other=-MAX)
        d_i = tl.load(sum_ptr + row_idx * N_CHUNKS + i + offsets, mask=mask, other=0.0)
        m_new = tl.maximum(m, m_i)
        d = d * tl.exp(m - m_new) + d_i * tl.exp(m_i - m_new)
        m = m_new
    m_row = tl.max(m, 0)
    logsum = tl.log(tl.sum(d * tl.exp(m - m_row), 0))
    label_idx = tl.load(labels_ptr + row_idx)
    x = tl.load(logits_ptr + row_idx * stride + label_idx).to(tl.float32)
    tl.store(lse_ptr + row_idx, m_row + logsum)
    tl.store(loss_ptr + row_idx, logsum + (m_row - x))


def chunked_cross_entropy(logits, target, chunk):
    n_rows, vocab_size = logits.shape
    n_chunks = triton.cdiv(vocab_size, chunk)
    maxima = torch.empty((n_rows, n_chunks), dtype=torch.float32, device=logits.device)
    sums = torch.empty_like(maxima)
    losses = torch.empty(n_rows, dtype=torch.float32, device=logits.device)
    logsumexp = torch.empty_like(losses)
    stride = logits.stride(0)
    _chunk_stats[(n_rows, n_chunks)](logits, stride, maxima, sums, vocab_size, n_chunks, chunk)
    BLOCK = min(triton.next_power_of_2(n_chunks), 1024)
    _merge_chunks[(n_rows,)](logits, stride, target, maxima, sums, losses, logsumexp, n_chunks, BLOCK=BLOCK)
    return losses, logsumexp
