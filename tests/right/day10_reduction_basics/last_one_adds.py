"""One launch: the program that draws the last ticket adds the partial sums up."""

import torch
import triton
import triton.language as tl


@triton.jit
def s(x, part, ticket, out, n, P, B: tl.constexpr, PB: tl.constexpr):
    pid = tl.program_id(0)
    acc = tl.zeros((B,), tl.float32)
    for b in range(pid, tl.cdiv(n, B), tl.num_programs(0)):
        i = b.to(tl.int64) * B + tl.arange(0, B)
        acc += tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(part + pid, tl.sum(acc, axis=0))
    tl.debug_barrier()
    mine = tl.atomic_add(ticket, 1, sem="acq_rel", scope="gpu")
    if mine == tl.num_programs(0) - 1:
        j = tl.arange(0, PB)
        p = tl.load(part + j, mask=j < tl.num_programs(0), other=0.0, cache_modifier=".cg")
        tl.store(out, tl.sum(p, axis=0))


def total(x):
    out = torch.empty((), dtype=torch.float32, device=x.device)
    P = max(1, min(1024, triton.cdiv(x.numel(), 4096)))
    part = torch.empty(P, dtype=torch.float32, device=x.device)
    ticket = torch.zeros(1, dtype=torch.int32, device=x.device)
    s[(P,)](x, part, ticket, out, x.numel(), P, B=4096, PB=triton.next_power_of_2(P), num_warps=8)
    return out
