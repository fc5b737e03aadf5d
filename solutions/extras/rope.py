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
    # 64 bits: a token may start 2**31 elements or more after the first one.
    token = tl.program_id(0).to(tl.int64)
    offs_h = tl.program_id(1).to(tl.int64) * BLOCK_H + tl.arange(0, BLOCK_H)
    offs_p = tl.arange(0, BLOCK_P)
    pairs = offs_p < n_pairs
    mask = (offs_h < n_heads)[:, None] & pairs[None, :]
    # Read once for all heads: 8 bytes a pair, from L2, where tables of 4096 positions fit whole.
    position = tl.load(positions_ptr + token)
    cos = tl.load(cos_ptr + position * n_pairs + offs_p, mask=pairs, other=0.0)[None, :]
    sin = tl.load(sin_ptr + position * n_pairs + offs_p, mask=pairs, other=0.0)[None, :]
    # The inverse of an orthogonal map is its transpose: the same angle with the sign turned.
    if BACKWARD:
        sin = -sin
    # Where both elements of a pair lie, in x and in y alike.
    first = 2 * offs_p if INTERLEAVED else offs_p
    second = first + 1 if INTERLEAVED else first + n_pairs
    x_ptr += (token // seq_len) * stride_xb + (token % seq_len) * stride_xs
    x_ptrs = x_ptr + offs_h[:, None] * stride_xh
    # Both are read before either is written, and turned in fp32.
    x1 = tl.load(x_ptrs + first[None, :] * stride_xd, mask=mask, other=0.0).to(tl.float32)
    x2 = tl.load(x_ptrs + second[None, :] * stride_xd, mask=mask, other=0.0).to(tl.float32)
    y_ptrs = y_ptr + (token * n_heads + offs_h[:, None]) * (2 * n_pairs)
    tl.store(y_ptrs + first[None, :], x1 * cos - x2 * sin, mask=mask)
    tl.store(y_ptrs + second[None, :], x2 * cos + x1 * sin, mask=mask)


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
    # At most 2048 pairs a program, 32 elements a thread: 32 heads of 128, which share one read of the tables.
    BLOCK_P = triton.next_power_of_2(width // 2)
    BLOCK_H = min(triton.next_power_of_2(n_heads), max(2048 // BLOCK_P, 1))
    rotate_kernel[(batch * seq_len, triton.cdiv(n_heads, BLOCK_H))](
        x,
        y,
        cos,
        sin,
        positions,
        seq_len,
        n_heads,
        width // 2,
        *x.stride(),
        INTERLEAVED=interleaved,
        BACKWARD=backward,
        BLOCK_H=BLOCK_H,
        BLOCK_P=BLOCK_P,
        num_warps=min(max(BLOCK_H * BLOCK_P // 512, 1), 4),
    )
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
