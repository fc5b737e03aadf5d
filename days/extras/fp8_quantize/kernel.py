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
    # TODO 1: find the row, this program's blocks of it, and the lanes that stand on an element of those.
    # TODO 2: read them, once, and go to fp32.
    # TODO 3: the scale of each block, which takes its largest magnitude to LARGEST; 1 for a block of zeros.
    # TODO 4: store the codes of x / scale, and the scales. The rows of q lie side by side.


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
