"""Extra: a product of int8 matrices, summed up in int32, with scales and a zero point for each row."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def int8_matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    a_scale_ptr,
    b_scale_ptr,
    a_zero_ptr,
    m,
    n,
    k,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    HAS_ZERO: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    """One tile of c, BLOCK_M rows high and BLOCK_N columns wide."""
    # TODO 1: find this program's tile, so that neighbours share rows and columns.
    # TODO 2: go along k with int8 tiles of a and b, and add their products up where no digit is lost.
    # TODO 3: with HAS_ZERO, take out the rows' zero points. They do not fit into the int8 operands.
    # TODO 4: go to fp32, multiply by both scales, and store.


def int8_matmul(
    a: torch.Tensor,
    b: torch.Tensor,
    a_scale: torch.Tensor,
    b_scale: torch.Tensor,
    a_zero: torch.Tensor | None,
) -> torch.Tensor:
    """Return ((a - a_zero) @ b) * a_scale * b_scale in fp32, for int8 a[m, k] and b[k, n] of any strides."""
    m, n, k = a.shape[0], b.shape[1], a.shape[1]
    c = torch.empty(m, n, dtype=torch.float32, device=a.device)
    # The least K of an int8 tl.dot is 32. 32 KB a stage, three of them under way, and 4 warps: an SM has room
    # for two such programs. One stores its 64 KB while the other multiplies.
    BLOCK_M = min(max(triton.next_power_of_2(m), 16), 128)
    BLOCK_N = min(max(triton.next_power_of_2(n), 16), 128)
    int8_matmul_kernel[(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)](
        a,
        b,
        c,
        a_scale,
        b_scale,
        a_zero,
        m,
        n,
        k,
        *a.stride(),
        *b.stride(),
        HAS_ZERO=a_zero is not None,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=128,
        GROUP_M=8,
        num_warps=4,
        num_stages=3,
    )
    return c
