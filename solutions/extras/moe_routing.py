"""Extra: the routing of a mixture of experts: k experts for each token, and all entries sorted by expert."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

TOKENS = 32  # of a program: a bit of a word each


@triton.jit
def ones(word):
    """How many bits of each word are 1: sums of neighbours that are 1, 2, 4, and then 8 bits wide."""
    word = word.to(tl.uint32, bitcast=True)
    word = word - ((word >> 1) & 0x55555555)
    word = (word & 0x33333333) + ((word >> 2) & 0x33333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F
    return ((word + (word >> 8) + (word >> 16) + (word >> 24)) & 0xFF).to(tl.int32)


@triton.jit
def choose_kernel(
    router_ptr,
    weights_ptr,
    experts_ptr,
    rank_ptr,
    word_ptr,
    t,
    e,
    k,
    BLOCK_T: tl.constexpr,
    BLOCK_E: tl.constexpr,
    BLOCK_K: tl.constexpr,
    LANES: tl.constexpr,
):
    """The k experts of BLOCK_T tokens, their weights, and a word for each expert: bit i, did token i take it?

    rank is how many earlier ones of these tokens chose the same expert.
    """
    STEPS: tl.constexpr = BLOCK_E // LANES
    offs_t = tl.arange(0, BLOCK_T)
    # 64 bits: t times e may pass 2**31.
    tokens = tl.program_id(0).to(tl.int64) * BLOCK_T + offs_t
    offs_k = tl.arange(0, BLOCK_K)
    # A row of the tile is LANES logits of one token: all tokens' first ones, then all tokens' second ones. So
    # 8 threads share a token's 256 logits, and most of a maximum is taken within a thread. In a tile
    # [BLOCK_T, BLOCK_E] 64 threads share them, and half of all instructions are shuffles between threads.
    rows = tl.arange(0, STEPS * BLOCK_T)
    row_tokens = tl.program_id(0).to(tl.int64) * BLOCK_T + rows % BLOCK_T
    offs_e = (rows // BLOCK_T * LANES)[:, None] + tl.arange(0, LANES)[None, :]
    inside = (row_tokens < t)[:, None] & (offs_e < e)
    # The only read of the logits: 4 bytes an element in fp32. Lanes that are no expert never win.
    x = tl.load(router_ptr + row_tokens[:, None] * e + offs_e, mask=inside, other=-float("inf"))
    x = x.to(tl.float32)
    x = tl.reshape(x, (STEPS, BLOCK_T, LANES))
    offs_e = tl.reshape(offs_e, (STEPS, BLOCK_T, LANES))
    inside = tl.reshape(inside, (STEPS, BLOCK_T, LANES))
    logits = tl.full((BLOCK_T, BLOCK_K), -float("inf"), tl.float32)
    experts = tl.zeros((BLOCK_T, BLOCK_K), tl.int32)
    for slot in range(k):
        top = tl.max(tl.max(x, axis=0), axis=1)
        # Of equal logits the first wins.
        equal = tl.where(x == top[None, :, None], offs_e, BLOCK_E - 1)
        expert = tl.min(tl.min(equal, axis=0), axis=1)
        logits = tl.where(offs_k[None, :] == slot, top[:, None], logits)
        experts = tl.where(offs_k[None, :] == slot, expert[:, None], experts)
        x = tl.where(offs_e == expert[None, :, None], -float("inf"), x)
    # Logits are finite: who is -inf by now was chosen, and by a token once at most.
    taken = (inside & (x == -float("inf"))).to(tl.int32)
    word = tl.reshape(tl.sum(taken << offs_t[None, :, None], axis=1), (BLOCK_E,))
    numbers = tl.arange(0, BLOCK_E)
    tl.store(word_ptr + tl.program_id(0).to(tl.int64) * e + numbers, word, mask=numbers < e)
    mine = tl.gather(word, tl.reshape(experts, (BLOCK_T * BLOCK_K,)), 0)
    # The bits below a token's own are the tokens before it.
    rank = ones(tl.reshape(mine, (BLOCK_T, BLOCK_K)) & ((1 << offs_t) - 1)[:, None])
    offs = tokens[:, None] * k + offs_k[None, :]
    mask = (tokens < t)[:, None] & (offs_k < k)[None, :]
    # Of the chosen alone, so that they sum to 1: the other exponentials would cancel.
    weights = tl.exp(logits - tl.max(logits, axis=1)[:, None])
    tl.store(weights_ptr + offs, weights / tl.sum(weights, axis=1)[:, None], mask=mask)
    tl.store(experts_ptr + offs, experts, mask=mask)
    tl.store(rank_ptr + offs, rank, mask=mask)


@triton.jit
def scan_kernel(word_ptr, counts_ptr, n_programs, e, BLOCK_P: tl.constexpr, BLOCK_E: tl.constexpr):
    """Of BLOCK_E experts, in place of each program's word the sum of the ones before; and the whole sum."""
    offs_e = tl.program_id(0) * BLOCK_E + tl.arange(0, BLOCK_E)
    total = tl.zeros((BLOCK_E,), tl.int32)
    for start in range(0, n_programs, BLOCK_P):
        programs = start + tl.arange(0, BLOCK_P)
        offs = programs.to(tl.int64)[:, None] * e + offs_e[None, :]
        mask = (programs < n_programs)[:, None] & (offs_e < e)[None, :]
        count = ones(tl.load(word_ptr + offs, mask=mask, other=0))
        tl.store(word_ptr + offs, total[None, :] + tl.cumsum(count, axis=0) - count, mask=mask)
        total += tl.sum(count, axis=0)
    tl.store(counts_ptr + offs_e, total, mask=offs_e < e)


@triton.jit
def place_kernel(
    experts_ptr,
    rank_ptr,
    before_ptr,
    counts_ptr,
    order_ptr,
    n,
    e,
    ENTRIES: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_E: tl.constexpr,
):
    """Store the ENTRIES entries of the same tokens where they belong in order[n]."""
    offs_e = tl.arange(0, BLOCK_E)
    counts = tl.load(counts_ptr + offs_e, mask=offs_e < e, other=0)
    before = tl.load(before_ptr + tl.program_id(0).to(tl.int64) * e + offs_e, mask=offs_e < e, other=0)
    # Behind all entries of the experts before, and those of its own that the programs before have.
    first = tl.cumsum(counts, axis=0) - counts + before
    lanes = tl.arange(0, BLOCK_N)
    entries = tl.program_id(0) * ENTRIES + lanes
    mask = (lanes < ENTRIES) & (entries < n)
    experts = tl.load(experts_ptr + entries, mask=mask, other=0)
    rank = tl.load(rank_ptr + entries, mask=mask, other=0)
    tl.store(order_ptr + tl.gather(first, experts, 0) + rank, entries, mask=mask)


def moe_route(router: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return weights[t, k] fp32, experts[t, k], order[t * k] and counts[e], int32, of router[t, e].

    A token's experts are those of its k largest logits, descending, the lower one of equals first. order
    sorts experts.flatten(), stably.
    """
    t, e = router.shape
    weights = torch.empty(t, k, dtype=torch.float32, device=router.device)
    experts, rank = (torch.empty(t, k, dtype=torch.int32, device=router.device) for _ in range(2))
    order = torch.empty(t * k, dtype=torch.int32, device=router.device)
    counts = torch.empty(e, dtype=torch.int32, device=router.device)
    BLOCK_E, BLOCK_K = triton.next_power_of_2(e), triton.next_power_of_2(k)
    n_programs = triton.cdiv(t, TOKENS)
    words = torch.empty(n_programs, e, dtype=torch.int32, device=router.device)
    choose_kernel[(n_programs,)](
        router,
        weights,
        experts,
        rank,
        words,
        t,
        e,
        k,
        BLOCK_T=TOKENS,
        BLOCK_E=BLOCK_E,
        BLOCK_K=BLOCK_K,
        LANES=min(BLOCK_E, 32),
        num_warps=8,
    )
    # Small calls take several steps, too: what one hands on to the next is wrong there as well, if it is.
    BLOCK_P = 512 if n_programs > 512 else 32
    # 8 words are a sector.
    scan_kernel[(triton.cdiv(e, 8),)](words, counts, n_programs, e, BLOCK_P=BLOCK_P, BLOCK_E=8, num_warps=8)
    place_kernel[(n_programs,)](
        experts,
        rank,
        words,
        counts,
        order,
        t * k,
        e,
        ENTRIES=TOKENS * k,
        BLOCK_N=TOKENS * BLOCK_K,
        BLOCK_E=BLOCK_E,
        num_warps=8,
    )
    return weights, experts, order, counts
