"""The whole strip as one block of sums, with rows and columns that wrap around, and no mask where k fits."""

import torch
import triton
import triton.language as tl


@triton.jit
def wide(a, b, c, m, n, k, HIGH: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr, EVEN: tl.constexpr):
    strips = tl.cdiv(n, WIDE)
    rows = (tl.program_id(0) // strips).to(tl.int64) * HIGH + tl.arange(0, HIGH)
    cols = (tl.program_id(0) % strips).to(tl.int64) * WIDE + tl.arange(0, WIDE)
    deep = tl.arange(0, DEEP).to(tl.int64)
    a_at = a + (rows % m)[:, None] * k + deep[None, :]
    b_at = b + deep[:, None] * n + (cols % n)[None, :]
    acc = tl.zeros((HIGH, WIDE), dtype=tl.float32)
    for i in range(tl.cdiv(k, DEEP)):
        if EVEN:
            x, y = tl.load(a_at), tl.load(b_at)
        else:
            x = tl.load(a_at, mask=deep[None, :] < k - i * DEEP, other=0.0)
            y = tl.load(b_at, mask=deep[:, None] < k - i * DEEP, other=0.0)
        acc += tl.dot(x, y)
        a_at += DEEP
        b_at += tl.cast(DEEP, tl.int64) * n
    out = acc.to(tl.float16)
    tl.store(c + rows[:, None] * n + cols[None, :], out, mask=(rows < m)[:, None] & (cols < n)[None, :])


def matmul_coarse(a, b, block, coarse):
    m, k = a.shape
    n = b.shape[1]
    out = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if out.numel():
        strip = block * coarse
        grid = (triton.cdiv(m, block) * triton.cdiv(n, strip),)
        wide[grid](
            a, b, out, m, n, k, HIGH=block, WIDE=strip, DEEP=32, EVEN=k % 32 == 0,
            num_warps=8 if block * strip > 8192 else 4, num_stages=2,
        )  # fmt: skip
    return out
