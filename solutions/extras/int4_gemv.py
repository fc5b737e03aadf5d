"""Extra: a few rows times a matrix of 4-bit weights, two to a byte, decoded on their way to tl.dot."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

ROWS = 16  # of x, at most; fewer are filled up with zeros: one kernel for all


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
    for group in range(0, groups):
        # Half a byte a weight, and 3 bytes a group of them: nearly all that comes from HBM.
        bytes_ptrs = packed_ptr + offs_n[:, None] * (k // 2) + group * (GROUP // 2) + offs_byte[None, :]
        packed = tl.load(bytes_ptrs, mask=mask_n[:, None], other=0)
        scale = tl.load(scales_ptr + offs_n * groups + group, mask=mask_n, other=0.0)
        zero = tl.load(zeros_ptr + offs_n * groups + group, mask=mask_n, other=0)
        # The same for every program, so it comes from L2: 2 * GROUP bytes a row of x.
        x_ptrs = x_ptr + offs_m[:, None] * k + group * GROUP + offs_k[None, :]
        x = tl.load(x_ptrs, mask=mask_m[:, None], other=0.0)
        # The order of a sum is free: x is parted into even and odd, instead of weights being interleaved.
        even, odd = tl.split(tl.reshape(x, (BLOCK_M, GROUP // 2, 2)))
        # Floats before the difference, for 3 - 8 is 251 in uint8. From -15 to 15 all are exact in 16 bits.
        shift = zero.to(x.dtype)[:, None]
        low = (packed & 0xF).to(x.dtype) - shift
        high = (packed >> 4).to(x.dtype) - shift
        part = tl.dot(low, tl.trans(even))
        part = tl.dot(high, tl.trans(odd), part)
        # One scale for all of the group: once a sum, not once a weight, and nothing is rounded.
        acc += part * scale.to(tl.float32)[:, None]
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
        GROUP=group_size,
        BLOCK_M=ROWS,
        BLOCK_N=64,
        num_warps=4,
        num_stages=4,
    )
    return y
