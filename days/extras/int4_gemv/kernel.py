"""Extra: a few rows times a matrix of 4-bit weights, two to a byte, decoded on their way to tl.dot."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

MAGIC = {
    torch.float16: 0x6400,
    torch.bfloat16: 0x4300,
}  # the bits of 1024 and of 128: their last one counts 1


@triton.jit
def int4_gemv_kernel(
    x_ptr,
    packed_ptr,
    scales_ptr,
    zeros_ptr,
    y_ptr,
    m,
    n,
    k,
    MAGIC: tl.constexpr,
    GROUP: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """BLOCK_N columns of y, which are rows of the weights, for all rows of x; a group of k a step."""
    offs_m = tl.arange(0, BLOCK_M)
    # 64 bits: n rows of k / 2 bytes may pass 2**31.
    offs_n = tl.program_id(0).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_m, mask_n = offs_m < m, offs_n < n
    offs_k = tl.arange(0, GROUP)
    offs_byte = tl.arange(0, GROUP // 2)
    groups = k // GROUP
    acc = tl.zeros((BLOCK_N, BLOCK_M), dtype=tl.float32)
    # TODO 1: go along k, a group a step: for each row of weights load its bytes, a scale and a zero point.
    # TODO 2: load the same group of x, and part it into even and odd elements; rows past m are 0.
    # TODO 3: decode both halves of each byte, and subtract the zero point where 3 - 8 is -5.
    # TODO 4: multiply both by their part of x, and add them up in acc. When is the scale applied?
    y_ptrs = y_ptr + offs_m[None, :] * n + offs_n[:, None]
    tl.store(y_ptrs, acc, mask=mask_n[:, None] & mask_m[None, :])


def int4_gemv(
    x: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, group_size: int
) -> torch.Tensor:
    """Return x[m, k] @ ((w - zero) * scale).T as a new [m, n], for w[n, k] packed two a byte, low first."""
    (m, k), n = x.shape, packed.shape[0]
    y = torch.empty(m, n, dtype=x.dtype, device=x.device)
    int4_gemv_kernel[(triton.cdiv(n, 64),)](
        x,
        packed,
        scales,
        zeros,
        y,
        m,
        n,
        k,
        MAGIC=MAGIC[x.dtype],
        GROUP=group_size,
        BLOCK_M=8 if m <= 8 else 16,
        BLOCK_N=64,
        num_warps=4,
        num_stages=3,
    )
    return y
