"""A broadcast add with bumped base pointers, as in attention kernels."""

import torch
import triton
import triton.language as tl


@triton.jit
def _add_kernel(
    A,
    B,
    Out,
    stride_az,
    stride_am,
    stride_an,
    stride_bz,
    stride_bm,
    stride_bn,
    seqlen_m,
    seqlen_n,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    start_n = tl.program_id(2).to(tl.int64)
    start_m = tl.program_id(1).to(tl.int64)
    off_z = tl.program_id(0).to(tl.int64)
    A += off_z * stride_az
    B += off_z * stride_bz
    Out += off_z * seqlen_m * seqlen_n
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = start_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m < seqlen_m)[:, None] & (offs_n < seqlen_n)[None, :]
    a = tl.load(A + (offs_m[:, None] * stride_am + offs_n[None, :] * stride_an), mask=mask)
    b = tl.load(B + (offs_m[:, None] * stride_bm + offs_n[None, :] * stride_bn), mask=mask)
    tl.store(Out + (offs_m[:, None] * seqlen_n + offs_n[None, :]), a + b, mask=mask)


def add_batched(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    Z, M, N = a.shape
    b = torch.broadcast_to(b, a.shape)
    out = torch.empty(a.shape, dtype=a.dtype, device=a.device)
    if out.numel() > 0:
        BLOCK_M, BLOCK_N = 16, 256
        grid = (Z, triton.cdiv(M, BLOCK_M), triton.cdiv(N, BLOCK_N))
        _add_kernel[grid](a, b, out, *a.stride(), *b.stride(), M, N, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)
    return out
