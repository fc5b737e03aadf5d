"""Routing: top k by rounds of tl.max/tl.argmax, chunks sorted by tl.sort and tl.histogram, int32 offsets.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _topk_softmax(
    logits, weights, experts, T, E, K, BLOCK_T: tl.constexpr, BLOCK_E: tl.constexpr, BLOCK_K: tl.constexpr
):
    rows = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    cols = tl.arange(0, BLOCK_E)
    slots = tl.arange(0, BLOCK_K)
    mask = (rows < T)[:, None] & (cols < E)[None, :]
    x = tl.load(logits + rows[:, None] * E + cols[None, :], mask=mask, other=float("-inf")).to(tl.float32)
    values = tl.full((BLOCK_T, BLOCK_K), float("-inf"), tl.float32)
    indices = tl.zeros((BLOCK_T, BLOCK_K), tl.int32)
    for j in range(K):
        best, arg = tl.max(x, axis=1, return_indices=True, return_indices_tie_break_left=True)
        values = tl.where(slots[None, :] == j, best[:, None], values)
        indices = tl.where(slots[None, :] == j, arg[:, None], indices)
        x = tl.where(cols[None, :] == arg[:, None], float("-inf"), x)
    p = tl.exp(values - tl.max(values, axis=1)[:, None])
    p = p / tl.sum(p, axis=1)[:, None]
    out = rows[:, None] * K + slots[None, :]
    out_mask = (rows < T)[:, None] & (slots < K)[None, :]
    tl.store(weights + out, p, mask=out_mask)
    tl.store(experts + out, indices, mask=out_mask)


@triton.jit
def _count(experts, hist, n, E, CHUNK: tl.constexpr, BLOCK_E: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * CHUNK + tl.arange(0, CHUNK)
    ids = tl.load(experts + offs, mask=offs < n, other=0)
    counts = tl.histogram(ids, BLOCK_E, mask=offs < n)
    cols = tl.arange(0, BLOCK_E)
    tl.store(hist + pid * E + cols, counts, mask=cols < E)


@triton.jit
def _scan(hist, counts, chunks, E, BLOCK_P: tl.constexpr):
    e = tl.program_id(0)
    carry = 0
    for start in range(0, chunks, BLOCK_P):
        p = start + tl.arange(0, BLOCK_P)
        h = tl.load(hist + p * E + e, mask=p < chunks, other=0)
        tl.store(hist + p * E + e, carry + tl.cumsum(h, 0) - h, mask=p < chunks)
        carry += tl.sum(h, 0)
    tl.store(counts + e, carry)


@triton.jit
def _scatter(experts, hist, counts, order, n, E, CHUNK: tl.constexpr, BLOCK_E: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, CHUNK)
    offs = pid * CHUNK + lane
    ids = tl.load(experts + offs, mask=offs < n, other=0)
    cols = tl.arange(0, BLOCK_E)
    here = tl.histogram(ids, BLOCK_E, mask=offs < n)
    total = tl.load(counts + cols, mask=cols < E, other=0)
    base = tl.load(hist + pid * E + cols, mask=cols < E, other=0) + tl.cumsum(total, 0) - total
    base -= tl.cumsum(here, 0) - here
    key = tl.sort(tl.where(offs < n, ids, BLOCK_E) * CHUNK + lane)
    expert = key // CHUNK
    place = tl.gather(base, tl.minimum(expert, BLOCK_E - 1), 0) + lane
    tl.store(order + place, pid * CHUNK + key % CHUNK, mask=expert < BLOCK_E)


def moe_route(router, k):
    T, E = router.shape
    dev = router.device
    weights = torch.empty((T, k), dtype=torch.float32, device=dev)
    experts = torch.empty((T, k), dtype=torch.int32, device=dev)
    order = torch.empty(T * k, dtype=torch.int32, device=dev)
    counts = torch.empty(E, dtype=torch.int32, device=dev)
    BLOCK_E, CHUNK, n = triton.next_power_of_2(E), 512, T * k
    BLOCK_T = max(1, min(32, 4096 // BLOCK_E))
    chunks = triton.cdiv(n, CHUNK)
    hist = torch.empty((chunks, E), dtype=torch.int32, device=dev)
    _topk_softmax[(triton.cdiv(T, BLOCK_T),)](
        router, weights, experts, T, E, k, BLOCK_T, BLOCK_E, triton.next_power_of_2(k), num_warps=4
    )
    _count[(chunks,)](experts, hist, n, E, CHUNK, BLOCK_E, num_warps=4)
    _scan[(E,)](hist, counts, chunks, E, BLOCK_P=1024, num_warps=4)
    _scatter[(chunks,)](experts, hist, counts, order, n, E, CHUNK, BLOCK_E, num_warps=4)
    return weights, experts, order, counts
