"""A fixed number of programs, each with a share of the tokens that it walks along twice."""

import torch
import triton
import triton.language as tl


@triton.jit
def chosen(ids, slot, BLOCK_E: tl.constexpr, BLOCK_K: tl.constexpr):
    """Who took which expert as its choice number `slot`: [BLOCK_T, BLOCK_E]."""
    here = tl.arange(0, BLOCK_K)[None, :] == slot
    expert = tl.max(tl.where(here, ids, -1), axis=1)
    return expert[:, None] == tl.arange(0, BLOCK_E)[None, :]


@triton.jit
def route(
    router_ptr, weights_ptr, experts_ptr, count_ptr, t, e, k, share, BLOCK_T: tl.constexpr,
    BLOCK_E: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0).to(tl.int64)
    # A row is 32 logits of a token at most, the first ones of all BLOCK_T tokens before their second ones.
    WIDE: tl.constexpr = min(BLOCK_E, 32)
    PARTS: tl.constexpr = BLOCK_E // WIDE
    row, slots = tl.arange(0, PARTS * BLOCK_T), tl.arange(0, BLOCK_K)
    expert = (row // BLOCK_T * WIDE)[:, None] + tl.arange(0, WIDE)[None, :]
    number = tl.reshape(expert, (PARTS, BLOCK_T, WIDE))
    lane = tl.arange(0, BLOCK_E)
    seen = tl.zeros((PARTS, WIDE), tl.int32)
    end = tl.minimum((pid + 1) * share, t)
    for start in range(pid * share, end, BLOCK_T):
        token = start + tl.arange(0, BLOCK_T)
        there = token < end
        of_row = start + row % BLOCK_T
        inside = (of_row < end)[:, None] & (expert < e)
        x = tl.load(router_ptr + of_row[:, None] * e + expert, mask=inside, other=-float("inf"))
        # Rows past the end hold a 0, so that no -inf is subtracted from -inf.
        x = tl.where((of_row < end)[:, None] | (expert > 0), x.to(tl.float32), 0.0)
        left = tl.reshape(x, (PARTS, BLOCK_T, WIDE))
        ids = tl.zeros((BLOCK_T, BLOCK_K), tl.int32)
        logits = tl.full((BLOCK_T, BLOCK_K), -float("inf"), tl.float32)
        for slot in range(k):
            most = tl.max(tl.max(left, axis=0), axis=1)
            equal = tl.where(left == most[None, :, None], number, BLOCK_E - 1)
            best = tl.min(tl.min(equal, axis=0), axis=1)
            here = slots[None, :] == slot
            ids = tl.where(here, best[:, None], ids)
            logits = tl.where(here, most[:, None], logits)
            left = tl.where(number == best[None, :, None], -float("inf"), left)
        share_of = tl.exp(logits - tl.max(logits, axis=1)[:, None])
        gone = tl.reshape(inside, (PARTS, BLOCK_T, WIDE)) & (left == -float("inf"))
        seen += tl.sum(gone.to(tl.int32), axis=1)
        mask = there[:, None] & (slots[None, :] < k)
        offs = token[:, None] * k + slots[None, :]
        tl.store(experts_ptr + offs, ids, mask=mask)
        tl.store(weights_ptr + offs, share_of / tl.sum(share_of, axis=1)[:, None], mask=mask)
    tl.store(count_ptr + pid * e + lane, tl.reshape(seen, (BLOCK_E,)), mask=lane < e)


@triton.jit
def scan(count_ptr, counts_ptr, n, e, BLOCK: tl.constexpr):
    """All programs' counts of one expert at once."""
    row, expert = tl.arange(0, BLOCK), tl.program_id(0)
    count = tl.load(count_ptr + row * e + expert, mask=row < n, other=0)
    tl.store(count_ptr + row * e + expert, tl.cumsum(count, axis=0) - count, mask=row < n)
    tl.store(counts_ptr + expert, tl.sum(count, axis=0))


@triton.jit
def sort(
    experts_ptr, before_ptr, counts_ptr, order_ptr, t, e, k, share, BLOCK_T: tl.constexpr,
    BLOCK_E: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0).to(tl.int64)
    lane, slots = tl.arange(0, BLOCK_E), tl.arange(0, BLOCK_K)
    counts = tl.load(counts_ptr + lane, mask=lane < e, other=0)
    before = tl.load(before_ptr + pid * e + lane, mask=lane < e, other=0)
    begin = tl.cumsum(counts, axis=0) - counts + before
    end = tl.minimum((pid + 1) * share, t)
    for start in range(pid * share, end, BLOCK_T):
        token = start + tl.arange(0, BLOCK_T)
        entry = token[:, None] * k + slots[None, :]
        mask = (token < end)[:, None] & (slots[None, :] < k)
        ids = tl.load(experts_ptr + entry, mask=mask, other=-1)
        took = tl.zeros((BLOCK_T, BLOCK_E), tl.int32)
        for slot in range(k):
            took += chosen(ids, slot, BLOCK_E, BLOCK_K).to(tl.int32)
        place = begin[None, :] + tl.cumsum(took, axis=0) - took
        to = tl.gather(place, tl.maximum(ids, 0), 1)
        tl.store(order_ptr + to, entry, mask=mask)
        begin += tl.sum(took, axis=0)


def moe_route(router, k):
    t, e = router.shape
    new = {"dtype": torch.int32, "device": router.device}
    weights = torch.empty((t, k), dtype=torch.float32, device=router.device)
    experts, order, counts = torch.empty((t, k), **new), torch.empty(t * k, **new), torch.empty(e, **new)
    BLOCK_E = triton.next_power_of_2(e)
    BLOCK_T = max(min(4096 // BLOCK_E, 64), 1)
    programs = min(max(triton.cdiv(t, BLOCK_T), 1), 528)
    share = triton.cdiv(t, programs * BLOCK_T) * BLOCK_T
    count = torch.empty((programs, e), **new)
    blocks = {"BLOCK_T": BLOCK_T, "BLOCK_E": BLOCK_E, "BLOCK_K": triton.next_power_of_2(k)}
    route[(programs,)](router, weights, experts, count, t, e, k, share, **blocks)
    scan[(e,)](count, counts, programs, e, BLOCK=1024)
    sort[(programs,)](experts, count, counts, order, t, e, k, share, **blocks)
    return weights, experts, order, counts
