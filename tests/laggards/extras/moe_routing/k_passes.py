"""The logits are read anew for each of a token's k choices, by a launch of its own."""

import torch
import triton
import triton.language as tl


@triton.jit
def pick_kernel(
    router_ptr, logits_ptr, experts_ptr, t, e, k, slot, BLOCK_T: tl.constexpr, BLOCK_E: tl.constexpr,
    BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Choice number `slot`: the largest logit of those that no earlier one took."""
    tokens = tl.program_id(0).to(tl.int64) * BLOCK_T + tl.arange(0, BLOCK_T)
    offs_e, offs_k = tl.arange(0, BLOCK_E), tl.arange(0, BLOCK_K)
    inside = (tokens < t)[:, None] & (offs_e < e)[None, :]
    x = tl.load(router_ptr + tokens[:, None] * e + offs_e[None, :], mask=inside, other=-float("inf"))
    x = x.to(tl.float32)
    offs = tokens[:, None] * k + offs_k[None, :]
    earlier = tl.load(experts_ptr + offs, mask=(tokens < t)[:, None] & (offs_k < slot)[None, :], other=-1)
    for before in range(slot):
        expert = tl.max(tl.where(offs_k[None, :] == before, earlier, -1), axis=1)
        x = tl.where(offs_e[None, :] == expert[:, None], -float("inf"), x)
    top, expert = tl.max(x, axis=1, return_indices=True)
    tl.store(logits_ptr + tokens * k + slot, top, mask=tokens < t)
    tl.store(experts_ptr + tokens * k + slot, expert, mask=tokens < t)


@triton.jit
def weigh_kernel(
    weights_ptr, experts_ptr, rank_ptr, count_ptr, t, e, k, BLOCK_T: tl.constexpr, BLOCK_E: tl.constexpr,
    BLOCK_K: tl.constexpr,
):  # fmt: skip
    """The weights in place of the chosen logits, and who chose whom."""
    tokens = tl.program_id(0).to(tl.int64) * BLOCK_T + tl.arange(0, BLOCK_T)
    offs_e, offs_k = tl.arange(0, BLOCK_E), tl.arange(0, BLOCK_K)
    offs = tokens[:, None] * k + offs_k[None, :]
    mask = (tokens < t)[:, None] & (offs_k < k)[None, :]
    logits = tl.load(weights_ptr + offs, mask=mask, other=-float("inf"))
    experts = tl.load(experts_ptr + offs, mask=mask, other=-1)
    taken = tl.zeros((BLOCK_T, BLOCK_E), tl.int32)
    for slot in range(k):
        expert = tl.max(tl.where(offs_k[None, :] == slot, experts, -1), axis=1)
        taken += (expert[:, None] == offs_e[None, :]).to(tl.int32)
    tl.store(count_ptr + tl.program_id(0) * e + offs_e, tl.sum(taken, axis=0), mask=offs_e < e)
    rank = tl.gather(tl.cumsum(taken, axis=0) - taken, tl.maximum(experts, 0), 1)
    weights = tl.exp(logits - tl.max(logits, axis=1)[:, None])
    tl.store(weights_ptr + offs, weights / tl.sum(weights, axis=1)[:, None], mask=mask)
    tl.store(rank_ptr + offs, rank, mask=mask)


@triton.jit
def scan_kernel(count_ptr, counts_ptr, n_programs, e, BLOCK_P: tl.constexpr, BLOCK_E: tl.constexpr):
    """Of BLOCK_E experts, in place of each program's count the sum of those before it; and the whole sum."""
    offs_e = tl.program_id(0) * BLOCK_E + tl.arange(0, BLOCK_E)
    total = tl.zeros((BLOCK_E,), tl.int32)
    for start in range(0, n_programs, BLOCK_P):
        programs = start + tl.arange(0, BLOCK_P)
        offs = programs.to(tl.int64)[:, None] * e + offs_e[None, :]
        mask = (programs < n_programs)[:, None] & (offs_e < e)[None, :]
        count = tl.load(count_ptr + offs, mask=mask, other=0)
        tl.store(count_ptr + offs, total[None, :] + tl.cumsum(count, axis=0) - count, mask=mask)
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
    """The ENTRIES entries of the same tokens to where they belong in order[n]."""
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
    BLOCK_T = min(8192 // BLOCK_E, 128)
    n_programs = triton.cdiv(t, BLOCK_T)
    count = torch.empty(n_programs, e, dtype=torch.int32, device=router.device)
    blocks = {"BLOCK_T": BLOCK_T, "BLOCK_E": BLOCK_E, "BLOCK_K": BLOCK_K}
    for slot in range(k):
        pick_kernel[(n_programs,)](router, weights, experts, t, e, k, slot, **blocks, num_warps=8)
    weigh_kernel[(n_programs,)](weights, experts, rank, count, t, e, k, **blocks, num_warps=8)
    # 8 counts are a sector.
    scan_kernel[(triton.cdiv(e, 8),)](count, counts, n_programs, e, BLOCK_P=512, BLOCK_E=8, num_warps=8)
    place_kernel[(n_programs,)](
        experts,
        rank,
        count,
        counts,
        order,
        t * k,
        e,
        ENTRIES=BLOCK_T * k,
        BLOCK_N=BLOCK_T * BLOCK_K,
        BLOCK_E=BLOCK_E,
        num_warps=8,
    )
    return weights, experts, order, counts
