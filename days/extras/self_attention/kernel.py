"""Extra: self-attention as a layer: a linear kernel, the attention of day 27, and the linear kernel again."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def linear_kernel(
    x_ptr,
    w_ptr,
    b_ptr,
    y_ptr,
    m,
    n,
    k,
    S,
    D,
    stride_xb,
    stride_xs,
    stride_xh,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """A tile of y = x @ w.T + b. Row i of x is token i % S of sequence i // S, column j is j % D of head
    j // D.

    w[n, k] and y[m, n] are contiguous; b is None where there is no bias.
    """
    # TODO 1: a product by tiles, as on day 17. x has four axes: its rows are two of them, its columns two.
    # TODO 2: add the bias to the sums, if there is one, and round once, in the store.


def linear(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor | None) -> torch.Tensor:
    """Return x @ w.T + b as [B, S, n] for x[B, S, H, D] read as [B, S, H * D]; the last stride of x is 1."""
    B, S = x.shape[:2]
    n = w.shape[0]
    y = torch.empty(B, S, n, dtype=x.dtype, device=x.device)
    # TODO 3: tile sizes, and the launch.
    return y


def self_attention(
    x: torch.Tensor,
    w_qkv: torch.Tensor,
    b_qkv: torch.Tensor | None,
    w_out: torch.Tensor,
    b_out: torch.Tensor | None,
    num_heads: int,
    causal: bool,
) -> torch.Tensor:
    """Return the attention layer of x[b, s, e] as [b, s, e]; w_qkv[3e, e], w_out[e, e], biases or None.

    The rows of w_qkv are those of q, then k, then v, and within each those of head 0, 1, … of num_heads.
    """
    # TODO 4: project x, look at it as heads of q, k and v, and let them attend: `attention` is in `mine`.
    # TODO 5: project what they found.
