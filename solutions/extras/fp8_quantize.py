"""Extra: FP8 codes with one scale for each block of a row; x is read once, each code written once."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

LARGEST = tl.constexpr(448.0)  # of e4m3: 1.75 * 2**8


@triton.jit
def fp8_quantize_kernel(
    x_ptr, q_ptr, scale_ptr, n_cols, n_blocks, stride_xm, block, BLOCK_G: tl.constexpr, BLOCK_N: tl.constexpr
):
    """Codes and scales of BLOCK_G neighbouring blocks of one row, `block` elements each."""
    # 64 bits: a row may start 2**31 elements or more after the first one.
    row = tl.program_id(0).to(tl.int64)
    offs_g = tl.program_id(1) * BLOCK_G + tl.arange(0, BLOCK_G)
    offs_n = tl.arange(0, BLOCK_N)
    cols = offs_g[:, None] * block + offs_n[None, :]
    # Lanes past the end of a block would belong to the next one.
    mask = (offs_g < n_blocks)[:, None] & (offs_n < block)[None, :]
    # 2 bytes an element of bf16 from HBM; they stay in registers until the scale is known.
    x = tl.load(x_ptr + row * stride_xm + cols, mask=mask, other=0.0).to(tl.float32)
    amax = tl.max(tl.abs(x), axis=1)
    # Nothing but zeros: any scale would do, and 0 / 0 would not.
    scale = tl.where(amax > 0, amax / LARGEST, 1.0)
    # No quotient passes 448 by more than a rounding, and the cast goes to the nearest code.
    q = (x / scale[:, None]).to(tl.float8e4nv)
    # 1 byte an element to HBM, and 4 bytes a block.
    tl.store(q_ptr + row * n_cols + cols, q, mask=mask)
    tl.store(scale_ptr + row * n_blocks + offs_g, scale, mask=offs_g < n_blocks)


def fp8_quantize(x: torch.Tensor, block: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return codes q[m, n], e4m3, and fp32 scales[m, n / block] of x[m, n]: x is about q * scale."""
    n_rows, n_cols = x.shape
    n_blocks = n_cols // block
    q = torch.empty(n_rows, n_cols, dtype=torch.float8_e4m3fn, device=x.device)
    scale = torch.empty(n_rows, n_blocks, dtype=torch.float32, device=x.device)
    # About 4096 elements a program: one block of 4096, or 32 of 128, which are one row as well.
    BLOCK_N = triton.next_power_of_2(block)
    BLOCK_G = min(max(4096 // BLOCK_N, 1), triton.next_power_of_2(n_blocks))
    fp8_quantize_kernel[(n_rows, triton.cdiv(n_blocks, BLOCK_G))](
        x,
        q,
        scale,
        n_cols,
        n_blocks,
        x.stride(0),
        block,
        BLOCK_G=BLOCK_G,
        BLOCK_N=BLOCK_N,
        num_warps=4 if BLOCK_N <= 4096 else 16,
    )
    return q, scale
