"""Four numbers of one Philox run for four columns side by side, which four loads take, each every fourth."""

import torch
import triton
import triton.language as tl


@triton.jit
def noise(bits):
    u = ((bits >> 9).to(tl.float32) + 0.5) * (1.0 / (1 << 23))
    return -tl.log(-tl.log(u))


@triton.jit
def tops(x, best, where, V, step, parts, t, seed, RUNS: tl.constexpr):
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    run = part * RUNS + tl.arange(0, RUNS)
    a, b, c, d = tl.randint4x(seed, row * 65536 + run)
    top = tl.full((RUNS,), -float("inf"), tl.float32)
    at = 4 * run
    for k in tl.static_range(4):
        if k == 0:
            bits = a
        elif k == 1:
            bits = b
        elif k == 2:
            bits = c
        else:
            bits = d
        col = 4 * run + k
        logit = tl.load(x + row * step + col, mask=col < V, other=-float("inf")).to(tl.float32)
        score = logit + t * noise(bits)
        at = tl.where(score > top, col, at)
        top = tl.maximum(top, score)
    most = tl.max(top, axis=0)
    tl.store(best + row * parts + part, most)
    tl.store(where + row * parts + part, tl.min(tl.where(top == most, at, 2147483647), axis=0))


@triton.jit
def merged(best, where, out, parts, PARTS: tl.constexpr):
    row, part = tl.program_id(0).to(tl.int64), tl.arange(0, PARTS)
    score = tl.load(best + row * parts + part, mask=part < parts, other=-float("inf"))
    first = tl.argmax(score, axis=0, tie_break_left=True)
    tl.store(out + row, tl.load(where + row * parts + first).to(tl.int64))


def sample(logits, temperature, seed):
    m, v = logits.shape
    out = torch.empty(m, dtype=torch.int64, device=logits.device)
    if m == 0:
        return out
    RUNS = min(1024, triton.next_power_of_2(triton.cdiv(v, 4)))
    parts = triton.cdiv(v, 4 * RUNS)
    best = torch.empty((m, parts), dtype=torch.float32, device=logits.device)
    where = torch.empty((m, parts), dtype=torch.int32, device=logits.device)
    tops[(m, parts)](logits, best, where, v, logits.stride(0), parts, temperature, seed, RUNS=RUNS)
    merged[(m,)](best, where, out, parts, PARTS=triton.next_power_of_2(parts), num_warps=1)
    return out
