"""A grid of two axes in 32 bits, as a tutorial's matrix addition has it. May have limits."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, c_ptr, M, N, sam, san, sbm, sbn, scm, scn, alpha, BM: tl.constexpr, BN: tl.constexpr
):
    offs_m = tl.program_id(axis=1) * BM + tl.arange(0, BM)
    offs_n = tl.program_id(axis=0) * BN + tl.arange(0, BN)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    a = tl.load(a_ptr + offs_m[:, None] * sam + offs_n[None, :] * san, mask=mask, other=0.0)
    b = tl.load(b_ptr + offs_m[:, None] * sbm + offs_n[None, :] * sbn, mask=mask, other=0.0)
    c = a.to(tl.float32) + alpha * b.to(tl.float32)
    tl.store(c_ptr + offs_m[:, None] * scm + offs_n[None, :] * scn, c, mask=mask)


def scaled_add(x, y, alpha):
    x, y = torch.from_dlpack(x), torch.from_dlpack(y)
    shape = x.shape
    if x.ndim == 1:
        x, y = x[:, None], y[:, None]
    M, N = x.shape
    if x.is_contiguous() and y.is_contiguous():
        M, N = 1, x.numel()
        x, y = x.view(M, N), y.view(M, N)
    c = torch.empty((M, N), device=x.device, dtype=x.dtype)
    BM, BN = (1, 1024) if M == 1 else (16, 64)
    grid = lambda META: (triton.cdiv(N, META["BN"]), triton.cdiv(M, META["BM"]))  # noqa: E731
    kernel[grid](x, y, c, M, N, *x.stride(), *y.stride(), *c.stride(), alpha, BM=BM, BN=BN)
    return c.view(shape)
