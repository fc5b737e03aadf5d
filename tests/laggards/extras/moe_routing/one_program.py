"""Experts are chosen by many programs, and one alone sorts all entries."""

import torch
import triton
import triton.language as tl


@triton.jit
def choose_kernel(
    router_ptr, weights_ptr, experts_ptr, t, e, k, BLOCK_T: tl.constexpr, BLOCK_E: tl.constexpr,
    BLOCK_K: tl.constexpr,
):  # fmt: skip
    tokens = tl.program_id(0).to(tl.int64) * BLOCK_T + tl.arange(0, BLOCK_T)
    offs_e, offs_k = tl.arange(0, BLOCK_E), tl.arange(0, BLOCK_K)
    inside = (tokens < t)[:, None] & (offs_e < e)[None, :]
    x = tl.load(router_ptr + tokens[:, None] * e + offs_e[None, :], mask=inside, other=-float("inf"))
    x = x.to(tl.float32)
    logits = tl.full((BLOCK_T, BLOCK_K), -float("inf"), tl.float32)
    experts = tl.zeros((BLOCK_T, BLOCK_K), tl.int32)
    for slot in range(k):
        top, expert = tl.max(x, axis=1, return_indices=True)
        logits = tl.where(offs_k[None, :] == slot, top[:, None], logits)
        experts = tl.where(offs_k[None, :] == slot, expert[:, None], experts)
        x = tl.where(offs_e[None, :] == expert[:, None], -float("inf"), x)
    offs = tokens[:, None] * k + offs_k[None, :]
    mask = (tokens < t)[:, None] & (offs_k < k)[None, :]
    weights = tl.exp(logits - tl.max(logits, axis=1)[:, None])
    tl.store(weights_ptr + offs, weights / tl.sum(weights, axis=1)[:, None], mask=mask)
    tl.store(experts_ptr + offs, experts, mask=mask)


@triton.jit
def sort_kernel(experts_ptr, order_ptr, counts_ptr, n, e, BLOCK_N: tl.constexpr, BLOCK_E: tl.constexpr):
    """Two walks along all n entries: the first one counts, the second one places."""
    offs_e = tl.arange(0, BLOCK_E)
    counts = tl.zeros((BLOCK_E,), tl.int32)
    for start in range(0, n, BLOCK_N):
        entries = start + tl.arange(0, BLOCK_N)
        experts = tl.load(experts_ptr + entries, mask=entries < n, other=-1)
        counts += tl.sum((experts[:, None] == offs_e[None, :]).to(tl.int32), axis=0)
    tl.store(counts_ptr + offs_e, counts, mask=offs_e < e)
    first = tl.cumsum(counts, axis=0) - counts
    for start in range(0, n, BLOCK_N):
        entries = start + tl.arange(0, BLOCK_N)
        experts = tl.load(experts_ptr + entries, mask=entries < n, other=-1)
        mine = (experts[:, None] == offs_e[None, :]).to(tl.int32)
        place = tl.sum(mine * (first[None, :] + tl.cumsum(mine, axis=0) - 1), axis=1)
        tl.store(order_ptr + place, entries, mask=entries < n)
        first += tl.sum(mine, axis=0)


def moe_route(router, k):
    t, e = router.shape
    weights = torch.empty(t, k, dtype=torch.float32, device=router.device)
    experts = torch.empty(t, k, dtype=torch.int32, device=router.device)
    order = torch.empty(t * k, dtype=torch.int32, device=router.device)
    counts = torch.empty(e, dtype=torch.int32, device=router.device)
    BLOCK_E = triton.next_power_of_2(e)
    BLOCK_T = min(8192 // BLOCK_E, 128)
    choose_kernel[(triton.cdiv(t, BLOCK_T),)](
        router,
        weights,
        experts,
        t,
        e,
        k,
        BLOCK_T=BLOCK_T,
        BLOCK_E=BLOCK_E,
        BLOCK_K=triton.next_power_of_2(k),
        num_warps=8,
    )
    BLOCK_N = min(16384 // BLOCK_E, 512)
    sort_kernel[(1,)](experts, order, counts, t * k, e, BLOCK_N=BLOCK_N, BLOCK_E=BLOCK_E, num_warps=8)
    return weights, experts, order, counts
