"""A program for each token; then entries are counted and sorted in blocks, whatever tokens they are of."""

import torch
import triton
import triton.language as tl


@triton.jit
def choose(router, weights, experts, e, K: tl.constexpr, PE: tl.constexpr, PK: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    col, slot = tl.arange(0, PE), tl.arange(0, PK)
    x = tl.load(router + token * e + col, mask=col < e, other=-float("inf")).to(tl.float32)
    logits = tl.full((PK,), -float("inf"), tl.float32)
    for i in range(K):
        top, best = tl.max(x, axis=0, return_indices=True)
        tl.store(experts + token * K + i, best)
        logits = tl.where(slot == i, top, logits)
        x = tl.where(col == best, -float("inf"), x)
    share = tl.exp(logits - tl.max(logits, axis=0))
    tl.store(weights + token * K + slot, share / tl.sum(share, axis=0), mask=slot < K)


@triton.jit
def count(experts, tally, n, e, BLOCK: tl.constexpr, PE: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    col = tl.arange(0, PE)
    ids = tl.load(experts + at, mask=at < n, other=-1)
    took = tl.sum((ids[:, None] == col[None, :]).to(tl.int32), axis=0)
    tl.store(tally + tl.program_id(0).to(tl.int64) * e + col, took, mask=col < e)


@triton.jit
def scan(tally, counts, parts, e, BLOCK: tl.constexpr):
    mine = tally + tl.program_id(0)
    before = 0
    for start in range(0, parts, BLOCK):
        at = start + tl.arange(0, BLOCK)
        took = tl.load(mine + at.to(tl.int64) * e, mask=at < parts, other=0)
        tl.store(mine + at.to(tl.int64) * e, before + tl.cumsum(took, axis=0) - took, mask=at < parts)
        before += tl.sum(took, axis=0)
    tl.store(counts + tl.program_id(0), before)


@triton.jit
def place(experts, tally, counts, order, n, e, BLOCK: tl.constexpr, PE: tl.constexpr):
    lane, col = tl.arange(0, BLOCK), tl.arange(0, PE)
    at = tl.program_id(0) * BLOCK + lane
    ids = tl.load(experts + at, mask=at < n, other=-1)
    rank = tl.sum(((ids[None, :] == ids[:, None]) & (lane[None, :] < lane[:, None])).to(tl.int32), axis=1)
    all_of = tl.load(counts + col, mask=col < e, other=0)
    before = tl.load(tally + tl.program_id(0).to(tl.int64) * e + col, mask=col < e, other=0)
    first = tl.gather(tl.cumsum(all_of, axis=0) - all_of + before, tl.maximum(ids, 0), 0)
    tl.store(order + first + rank, at, mask=at < n)


def moe_route(router, k):
    t, e = router.shape
    new = {"dtype": torch.int32, "device": router.device}
    weights = torch.empty((t, k), dtype=torch.float32, device=router.device)
    experts, order, counts = torch.empty((t, k), **new), torch.empty(t * k, **new), torch.empty(e, **new)
    PE = triton.next_power_of_2(e)
    parts = triton.cdiv(t * k, 64)
    tally = torch.empty((parts, e), **new)
    choose[(t,)](router, weights, experts, e, K=k, PE=PE, PK=triton.next_power_of_2(k), num_warps=1)
    count[(parts,)](experts, tally, t * k, e, BLOCK=64, PE=PE)
    scan[(e,)](tally, counts, parts, e, BLOCK=1024)
    place[(parts,)](experts, tally, counts, order, t * k, e, BLOCK=64, PE=PE)
    return weights, experts, order, counts
