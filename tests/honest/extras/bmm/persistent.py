"""As many programs as two for each SM, which walk over the tiles of all products."""

import torch
import triton
import triton.language as tl


@triton.jit
def walk(
    a, b, c, batch, m, n, k, a0, a1, a2, b0, b1, b2, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    wide, high = tl.cdiv(n, BN), tl.cdiv(m, BM)
    for t in range(tl.program_id(0), batch * high * wide, tl.num_programs(0)):
        which = (t // (high * wide)).to(tl.int64)
        rest = t % (high * wide)
        r = (rest // wide).to(tl.int64) * BM + tl.arange(0, BM)
        s = (rest % wide).to(tl.int64) * BN + tl.arange(0, BN)
        x, y = a + which * a0 + r[:, None] * a1, b + which * b0 + s[None, :] * b2
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for i in range(tl.cdiv(k, BK)):
            q = (i * BK + tl.arange(0, BK)).to(tl.int64)
            left = tl.load(x + q[None, :] * a2, mask=(r < m)[:, None] & (q < k)[None, :], other=0)
            right = tl.load(y + q[:, None] * b1, mask=(q < k)[:, None] & (s < n)[None, :], other=0)
            acc = tl.dot(left, right, acc, input_precision="ieee")
        out = c + which * m * n + r[:, None] * n + s[None, :]
        tl.store(out, acc, mask=(r < m)[:, None] & (s < n)[None, :])


def bmm(a, b):
    batch, m, k = a.shape
    n = b.shape[-1]
    c = a.new_empty(batch, m, n)
    if a.dtype is torch.float32:
        BM, BN, BK = 64, 32, 32
    else:
        BM, BN, BK = 128, 256, 64
    tiles = batch * triton.cdiv(m, BM) * triton.cdiv(n, BN)
    sms = torch.cuda.get_device_properties(a.device).multi_processor_count if a.is_cuda else 3
    walk[(min(tiles, sms),)](
        a, b, c, batch, m, n, k, *a.stride(), *b.stride(), BM=BM, BN=BN, BK=BK, num_warps=8
    )
    return c
