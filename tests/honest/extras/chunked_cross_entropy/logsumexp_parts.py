"""A natural logsumexp for each chunk, whole chunks in one block, chunks beside rows in the grid."""

import torch
import triton
import triton.language as tl


@triton.jit
def part(X, PARTS, V, step, CHUNK: tl.constexpr, BLOCK: tl.constexpr):
    row, which = tl.program_id(0).to(tl.int64), tl.program_id(1)
    lane = tl.arange(0, BLOCK)
    col = which * CHUNK + lane
    x = tl.load(X + row * step + col, (lane < CHUNK) & (col < V), -float("inf")).to(tl.float32)
    top = tl.max(x, axis=0)
    base = tl.where(tl.abs(top) == float("inf"), 0.0, top)
    tl.store(PARTS + row * tl.num_programs(1) + which, base + tl.log(tl.sum(tl.exp(x - base), axis=0)))


@triton.jit
def whole(X, T, PARTS, LOSS, LSE, count, step, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    top = -float("inf")
    for start in range(0, count, BLOCK):
        part = tl.load(PARTS + row * count + start + lane, start + lane < count, -float("inf"))
        top = tl.maximum(top, tl.max(part, axis=0))
    base = tl.where(tl.abs(top) == float("inf"), 0.0, top)
    total = 0.0
    for start in range(0, count, BLOCK):
        part = tl.load(PARTS + row * count + start + lane, start + lane < count, -float("inf"))
        total += tl.sum(tl.exp(part - base), axis=0)
    lse = base + tl.log(total)
    tl.store(LSE + row, lse)
    tl.store(LOSS + row, lse - tl.load(X + row * step + tl.load(T + row)).to(tl.float32))


def chunked_cross_entropy(logits, target, chunk):
    m, v = logits.shape
    count = triton.cdiv(v, chunk)
    chunk = min(chunk, triton.next_power_of_2(v))
    parts = torch.empty((m, count), dtype=torch.float32, device=logits.device)
    loss, lse = torch.empty((2, m), dtype=torch.float32, device=logits.device)
    part[(m, count)](
        logits, parts, v, logits.stride(0), CHUNK=chunk, BLOCK=chunk, num_warps=max(1, min(chunk // 512, 32))
    )
    whole[(m,)](logits, target, parts, loss, lse, count, logits.stride(0), BLOCK=256)
    return loss, lse
