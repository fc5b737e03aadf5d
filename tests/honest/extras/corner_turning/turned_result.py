"""Tiles of b a.T, whose second operand is a's tile turned; the sums are turned before the store."""

import torch
import triton
import triton.language as tl


@triton.jit
def strip(a, b, c, m, n, k, am, ak, bn, bk, HIGH: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr):
    down = tl.cdiv(m, WIDE)
    cols = (tl.program_id(0) // down).to(tl.int64) * HIGH + tl.arange(0, HIGH)
    rows = (tl.program_id(0) % down).to(tl.int64) * WIDE + tl.arange(0, WIDE)
    deep = tl.arange(0, DEEP).to(tl.int64)
    b_at = b + cols[:, None] * bn + deep[None, :] * bk
    a_at = a + rows[:, None] * am + deep[None, :] * ak
    acc = tl.zeros((HIGH, WIDE), dtype=tl.float32)
    for i in range(tl.cdiv(k, DEEP)):
        left = deep[None, :] < k - i * DEEP
        y = tl.load(b_at + tl.cast(i * DEEP, tl.int64) * bk, (cols < n)[:, None] & left, 0.0)
        x = tl.load(a_at + tl.cast(i * DEEP, tl.int64) * ak, (rows < m)[:, None] & left, 0.0)
        acc += tl.dot(y, x.T)
    out = tl.trans(acc).to(c.dtype.element_ty)
    tl.store(c + rows[:, None] * n + cols[None, :], out, (rows < m)[:, None] & (cols < n)[None, :])


def matmul_nt(a, b):
    m, k = a.shape
    n = b.shape[0]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if c.numel():
        grid = (triton.cdiv(n, 128) * triton.cdiv(m, 128),)
        strip[grid](
            a, b, c, m, n, k, *a.stride(), *b.stride(), HIGH=128, WIDE=128, DEEP=32, num_warps=8, num_stages=4
        )
    return c
