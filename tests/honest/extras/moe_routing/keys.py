"""Integers that sort like the logits and carry their experts; a scan of its own for each expert."""

import torch
import triton
import triton.language as tl

LEAST = tl.constexpr(-(1 << 62))


@triton.jit
def key_of(x, number):
    """An int64 that is larger for a larger x, and where two are equal for the lower number."""
    # + 0.0 makes one zero of two. The bits of negative numbers count the wrong way round.
    bits = (x + 0.0).to(tl.int32, bitcast=True)
    bits = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    return bits.to(tl.int64) * 256 + (255 - number)


@triton.jit
def logit_of(key):
    bits = (key >> 8).to(tl.int32)
    bits = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    return bits.to(tl.float32, bitcast=True)


@triton.jit
def top_k(
    router, weights, experts, tally, t, E: tl.constexpr, K: tl.constexpr, T: tl.constexpr, PE: tl.constexpr,
    PK: tl.constexpr,
):  # fmt: skip
    # Rows of at most 32 logits, the first ones of all tokens, then the second ones: few threads to a token.
    WIDE: tl.constexpr = min(PE, 32)
    line = tl.arange(0, T * PE // WIDE)
    col = (line // T * WIDE)[:, None] + tl.arange(0, WIDE)[None, :]
    token = tl.program_id(0).to(tl.int64) * T + line % T
    there = (token[:, None] < t) & (col < E)
    x = tl.load(router + token[:, None] * E + col, mask=there, other=0.0).to(tl.float32)
    key = tl.reshape(tl.where(there, key_of(x, col), LEAST), (PE // WIDE, T, WIDE))
    row, slot = tl.program_id(0).to(tl.int64) * T + tl.arange(0, T), tl.arange(0, PK)
    best = tl.full((T, PK), LEAST, tl.int64)
    for i in range(K):
        top = tl.max(tl.max(key, axis=0), axis=1)
        best = tl.where(slot[None, :] == i, top[:, None], best)
        key = tl.where(key == top[None, :, None], LEAST, key)
    logit = logit_of(best)
    mask = (row[:, None] < t) & (slot[None, :] < K)
    share = tl.where(mask, tl.exp(logit - tl.max(tl.where(mask, logit, -float("inf")), axis=1)[:, None]), 0.0)
    out = row[:, None] * K + slot[None, :]
    tl.store(weights + out, share / tl.maximum(tl.sum(share, axis=1), 1.0)[:, None], mask=mask)
    tl.store(experts + out, 255 - (best & 255), mask=mask)
    gone = tl.reshape(there, (PE // WIDE, T, WIDE)) & (key == LEAST)
    took = tl.reshape(tl.sum(gone.to(tl.int32), axis=1), (PE,))
    expert = tl.arange(0, PE)
    tl.store(tally + expert.to(tl.int64) * tl.num_programs(0) + tl.program_id(0), took, mask=expert < E)


@triton.jit
def scan(tally, counts, parts, BLOCK: tl.constexpr):
    mine = tally + tl.program_id(0).to(tl.int64) * parts
    before = 0
    for start in range(0, parts, BLOCK):
        at = start + tl.arange(0, BLOCK)
        n = tl.load(mine + at, mask=at < parts, other=0)
        tl.store(mine + at, before + tl.cumsum(n, 0) - n, mask=at < parts)
        before += tl.sum(n, 0)
    tl.store(counts + tl.program_id(0), before)


@triton.jit
def place(
    experts, tally, counts, order, t, E: tl.constexpr, K: tl.constexpr, T: tl.constexpr, PE: tl.constexpr,
    PK: tl.constexpr,
):  # fmt: skip
    col, at = tl.arange(0, PE), tl.arange(0, T * PK)
    entry = (tl.program_id(0) * T + at // PK) * K + at % PK
    mask = (tl.program_id(0) * T + at // PK < t) & (at % PK < K)
    mine = tl.load(experts + entry, mask=mask, other=-1)
    # Every entry of the program beside every other one: who of the same expert comes before?
    before = (mine[None, :] == mine[:, None]) & (at[None, :] < at[:, None])
    rank = tl.sum(before.to(tl.int32), axis=1)
    n = tl.load(counts + col, mask=col < E, other=0)
    first = tl.gather(tl.cumsum(n, 0) - n, tl.maximum(mine, 0), 0)
    first += tl.load(tally + mine.to(tl.int64) * tl.num_programs(0) + tl.program_id(0), mask=mask, other=0)
    tl.store(order + first + rank, entry, mask=mask)


def moe_route(router, k):
    t, e = router.shape
    weights = torch.empty((t, k), device=router.device)
    experts = torch.empty((t, k), dtype=torch.int32, device=router.device)
    order = torch.empty(t * k, dtype=torch.int32, device=router.device)
    counts = torch.empty(e, dtype=torch.int32, device=router.device)
    sizes = {"E": e, "K": k, "PE": triton.next_power_of_2(e), "PK": triton.next_power_of_2(k)}
    sizes["T"] = 16
    parts = triton.cdiv(t, sizes["T"])
    tally = torch.empty((e, parts), dtype=torch.int32, device=router.device)
    top_k[(parts,)](router, weights, experts, tally, t, **sizes, num_warps=4)
    scan[(e,)](tally, counts, parts, BLOCK=1024)
    place[(parts,)](experts, tally, counts, order, t, **sizes, num_warps=4)
    return weights, experts, order, counts
