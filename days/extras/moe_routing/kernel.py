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
    # TODO 1: load the logits of these tokens. Which lanes must never win?
    # TODO 2: k times the largest logit of each token, and whose it is; whoever won is out of the next round.
    # TODO 3: the weights are the softmax of the chosen logits alone. Store them, and the experts.
    # TODO 4: who chose whom, a word an expert and a bit a token? Store it. Which of its bits make rank?


@triton.jit
def scan_kernel(word_ptr, counts_ptr, n_programs, e, BLOCK_P: tl.constexpr, BLOCK_E: tl.constexpr):
    """Of BLOCK_E experts, in place of each program's word the sum of the ones before; and the whole sum."""
    # TODO 5: walk along the programs, BLOCK_P at a time; what of a count has to be carried on to the next?
    # TODO 6: store what is before each program in the place of its word, and at the end the sum of all.


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
    # TODO 7: where does this program's first entry of each expert go? Count who comes before it.
    # TODO 8: look up where each entry's expert begins here, and store the entry's number, rank places on.


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
