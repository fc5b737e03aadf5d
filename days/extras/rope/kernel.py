"""Extra: rotary position embedding of q and k, each element read once and written once, and the way back."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


@triton.jit
def rotate_kernel(
    x_ptr,
    y_ptr,
    cos_ptr,
    sin_ptr,
    positions_ptr,
    seq_len,
    n_heads,
    n_pairs,
    stride_xb,
    stride_xs,
    stride_xh,
    stride_xd,
    INTERLEAVED: tl.constexpr,
    BACKWARD: tl.constexpr,
    BLOCK_H: tl.constexpr,
    BLOCK_P: tl.constexpr,
):
    """Turn BLOCK_H heads of one token, pair by pair; BLOCK_P >= n_pairs. BACKWARD turns the other way."""
    # TODO 1: find this program's token and heads, and which lanes stand on a head and a pair that exist.
    # TODO 2: read the token's position, and its row of both tables. BACKWARD turns the other way.
    # TODO 3: where do both elements of pair p lie, interleaved and not? The last dimension has a stride too.
    # TODO 4: read both, turn them in fp32, and write each to its place. y is contiguous.


def rotate(
    x: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    positions: torch.Tensor,
    interleaved: bool,
    backward: bool,
) -> torch.Tensor:
    """Return x[b, s, h, d], of any strides, with the pairs of each token turned by its position's angles."""
    batch, seq_len, n_heads, width = x.shape
    y = torch.empty(batch, seq_len, n_heads, width, dtype=x.dtype, device=x.device)
    # TODO 5: choose tile and num_warps for this width and number of heads, and launch for all tokens.
    return y


class Rope(torch.autograd.Function):
    """Tells autograd how q and k are turned, and how their gradients are."""

    @staticmethod
    def forward(
        ctx: Any,
        q: torch.Tensor,
        k: torch.Tensor,
        cos: torch.Tensor,
        sin: torch.Tensor,
        positions: torch.Tensor,
        interleaved: bool,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        # Neither q nor k: the gradient of a linear map does not ask where it stands.
        ctx.save_for_backward(cos, sin, positions)
        ctx.interleaved = interleaved
        # An output that nobody uses then has None for its gradient, not a tensor of zeros.
        ctx.set_materialize_grads(False)
        angles = (cos, sin, positions, interleaved)
        return rotate(q, *angles, backward=False), rotate(k, *angles, backward=False)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *upstream: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        angles = (*ctx.saved_tensors, ctx.interleaved)
        dq, dk = (None if dy is None else rotate(dy, *angles, backward=True) for dy in upstream)
        return dq, dk, None, None, None, None


def rope(
    q: torch.Tensor,
    k: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    positions: torch.Tensor,
    interleaved: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return q[b, s, h, d] and k[b, s, h_k, d], turned by what cos, sin[p, d/2] have for positions[b, s]."""
    return Rope.apply(q, k, cos, sin, positions, interleaved)
