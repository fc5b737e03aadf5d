"""Four random numbers a run, interleaved; the mask is stored as bytes and viewed as bool."""

import torch
import triton
import triton.language as tl


@triton.jit
def k(x_ptr, y_ptr, m_ptr, n, p, seed, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    off = pid.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    msk = off < n
    # four random numbers from one philox call, laid side by side
    q = pid.to(tl.int64) * (BLOCK // 4) + tl.arange(0, BLOCK // 4)
    a, b, c, d = tl.rand4x(seed, q)
    r = tl.interleave(tl.interleave(a, c), tl.interleave(b, d))
    keep = r >= p
    x = tl.load(x_ptr + off, mask=msk)
    tl.store(y_ptr + off, tl.where(keep, x / (1.0 - p), 0.0), mask=msk)
    tl.store(m_ptr + off, keep.to(tl.uint8), mask=msk)


def dropout(x: torch.Tensor, p: float, seed: int):
    assert x.is_contiguous()
    y = torch.empty_like(x)
    mask = torch.empty(x.shape, dtype=torch.uint8, device=x.device)
    if x.numel():
        k[(triton.cdiv(x.numel(), 1024),)](x, y, mask, x.numel(), p, seed, BLOCK=1024)
    return y, mask.view(torch.bool)
