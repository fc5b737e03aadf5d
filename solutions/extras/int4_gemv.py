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
    # Four groups a turn: 256 bytes of a row come together and are waited for once, and while one dot runs the
    # next weights are decoded.
    for group in tl.range(0, groups, loop_unroll_factor=4):
        # Half a byte a weight, and 3 bytes a group of them: nearly all that comes from HBM.
        bytes_ptrs = packed_ptr + offs_n[:, None] * (k // 2) + group * (GROUP // 2) + offs_byte[None, :]
        packed = tl.load(bytes_ptrs, mask=mask_n[:, None], other=0).to(tl.uint16)
        scale = tl.load(scales_ptr + offs_n * groups + group, mask=mask_n, other=0.0)
        zero = tl.load(zeros_ptr + offs_n * groups + group, mask=mask_n, other=0).to(tl.uint16)
        # The same for every program, so it comes from L2: 2 * GROUP bytes a row of x.
        x_ptrs = x_ptr + offs_m[:, None] * k + group * GROUP + offs_k[None, :]
        x = tl.load(x_ptrs, mask=mask_m[:, None], other=0.0)
        # The order of a sum is free: x is parted into even and odd, instead of weights being interleaved.
        even, odd = tl.split(tl.reshape(x, (BLOCK_M, GROUP // 2, 2)))
        # MAGIC | code, read as a float, is 1024 + code (128 + code in bf16): no conversion, which would take
        # as long as four other instructions. The difference is exact, and 3 - 8 is no 251, as it is in uint8.
        shift = (zero | MAGIC).to(x.dtype, bitcast=True)[:, None]
        low = ((packed & 0xF) | MAGIC).to(x.dtype, bitcast=True) - shift
        high = ((packed >> 4) | MAGIC).to(x.dtype, bitcast=True) - shift
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
        MAGIC=MAGIC[x.dtype],
        GROUP=group_size,
        BLOCK_M=8 if m <= 8 else 16,
        BLOCK_N=64,
        num_warps=4,
        num_stages=3,
    )
    return y
