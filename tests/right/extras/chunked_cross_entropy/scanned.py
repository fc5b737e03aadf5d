"""A chunk a program; the chunks' (maximum, sum) are scanned, and the last prefix is the row's."""

import torch
import triton
import triton.language as tl


@triton.jit
def merge(ma, sa, mb, sb):
    m = tl.maximum(ma, mb)
    return m, tl.where(ma == m, sa, sa * tl.exp(ma - m)) + tl.where(mb == m, sb, sb * tl.exp(mb - m))


@triton.jit
def part(x, mx, sm, V, chunks, C, s, B: tl.constexpr):
    pid = tl.program_id(0)
    row = (pid // chunks).to(tl.int64)
    lo = pid % chunks * C
    hi = tl.minimum(lo + C, V)
    m = tl.full((B,), float("-inf"), tl.float32)
    z = tl.zeros((B,), tl.float32)
    for c0 in range(lo, hi, B):
        c = c0 + tl.arange(0, B)
        v = tl.load(x + row * s + c, c < hi, float("-inf")).to(tl.float32)
        m, z = merge(m, z, v, tl.where(c < hi, 1.0, 0.0))
    a, b = tl.reduce((m, z), 0, merge)
    tl.store(mx + pid, a)
    tl.store(sm + pid, b)


@triton.jit
def final(x, t, mx, sm, loss, lse, chunks, s, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    m = float("-inf")
    z = 0.0
    for p0 in range(0, chunks, B):
        p = p0 + tl.arange(0, B)
        a = tl.load(mx + row * chunks + p, p < chunks, float("-inf"))
        b = tl.load(sm + row * chunks + p, p < chunks, 0.0)
        A, Z = tl.associative_scan((a, b), 0, merge)
        last = p == p0 + B - 1
        m, z = merge(m, z, tl.max(tl.where(last, A, float("-inf")), 0), tl.sum(tl.where(last, Z, 0.0), 0))
    out = m + tl.log(z)
    tl.store(lse + row, out)
    y = tl.load(x + row * s + tl.load(t + row).to(tl.int64)).to(tl.float32)
    tl.store(loss + row, out - y)


def chunked_cross_entropy(logits, target, chunk):
    M, V = logits.shape
    chunks = triton.cdiv(V, chunk)
    options = {"dtype": torch.float32, "device": logits.device}
    mx, sm = torch.empty(M, chunks, **options), torch.empty(M, chunks, **options)
    loss, lse = torch.empty(M, **options), torch.empty(M, **options)
    if M:
        part[(M * chunks,)](
            logits, mx, sm, V, chunks, chunk, logits.stride(0), B=min(1024, triton.next_power_of_2(chunk))
        )
        final[(M,)](
            logits,
            target,
            mx,
            sm,
            loss,
            lse,
            chunks,
            logits.stride(0),
            B=min(256, triton.next_power_of_2(chunks)),
        )
    return loss, lse
