"""Extra: a product of FP8 matrices, its sums promoted to fp32, with a scale for each row of both."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def fp8_matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    a_scale_ptr,
    b_scale_ptr,
    m,
    n,
    k,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    """One tile of c = a @ b.T, BLOCK_M rows high and BLOCK_N columns wide, in two halves of columns."""
    # TODO 1: find this program's tile, so that neighbours share rows of a and of b.
    # TODO 2: go along k with FP8 tiles of both, and add their products up with more than 14 bits.
    # TODO 3: multiply by both scales, and store.


def fp8_matmul(
    a: torch.Tensor, b: torch.Tensor, a_scale: torch.Tensor, b_scale: torch.Tensor
) -> torch.Tensor:
    """Return (a @ b.T) * a_scale * b_scale in bf16, for contiguous a[m, k] and b[n, k] of e4m3."""
    (m, k), n = a.shape, b.shape[0]
    c = torch.empty(m, n, dtype=torch.bfloat16, device=a.device)
    # 32 KB a stage, three of them under way: of shared memory, too, an SM has enough for two programs.
    BLOCK_M = min(max(triton.next_power_of_2(m), 16), 128)
    BLOCK_N = min(max(triton.next_power_of_2(n), 32), 128)
    fp8_matmul_kernel[(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)](
        a,
        b,
        c,
        a_scale,
        b_scale,
        m,
        n,
        k,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=128,
        GROUP_M=8,
        num_warps=8 if BLOCK_M * BLOCK_N > 4096 else 4,
        num_stages=3,
        maxnreg=128,
    )
    return c
