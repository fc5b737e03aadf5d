"""Extra: rotation, grouped heads and attention in one kernel, from one projection to the next."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)
LOWEST = tl.constexpr(-3.4028234e38)  # the lowest finite fp32


@triton.jit
def load_pairs(
    x_ptr, cos_ptr, sin_ptr, start, S, stride_m, D: tl.constexpr, BLOCK: tl.constexpr, HALF: tl.constexpr
):
    """Rows start to start + BLOCK of one head: both halves, and what turns them, [BLOCK, HALF] each.

    0 where there is no row or no pair. HALF is a power of 2, and at least D // 2.
    """
    # TODO 1: load both halves of the rows, and cos and sin of their positions.


@triton.jit
def turned(x1, x2, cos, sin):
    """Each pair turned by its position, in fp32; rounded once, to the dtype of x."""
    # TODO 2: both halves, in the dtype of x1.


@triton.jit
def fused_mha_kernel(
    qkv_ptr,
    cos_ptr,
    sin_ptr,
    o_ptr,
    n_heads,
    S,
    scale,
    GROUP: tl.constexpr,
    CAUSAL: tl.constexpr,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    HALF: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """BLOCK_M queries of one head. GROUP query heads share a key head; BLOCK_D is at least D."""
    # TODO 3: where do this program's q, k and v begin, and how far apart are two tokens of them?
    # TODO 4: the queries, turned once.
    # TODO 5: day 32's loop over the keys it may see. The halves of a head need never stand side by side.
    # TODO 6: store the result where the next projection looks for it: [b, s, h * d].


def fused_mha(
    qkv: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    num_heads: int,
    num_kv_heads: int,
    scale: float,
    causal: bool,
) -> torch.Tensor:
    """Return attention of rotated q and k as [b, s, h * d], from qkv[b, s, (h + 2 h_k) * d], contiguous.

    cos, sin[s, d / 2] fp32: element i of a head turns with element i + d / 2. fp16 or bf16, d even, <= 128.
    """
    B, S, width = qkv.shape
    D = width // (num_heads + 2 * num_kv_heads)
    o = torch.empty(B, S, num_heads * D, dtype=qkv.dtype, device=qkv.device)
    # TODO 7: tile sizes, and the launch.
    return o
