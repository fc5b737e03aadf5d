"""Extra: a linear recurrence over time, by an associative scan of chunks with a carry, and the way back."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


@triton.jit
def combine(a_left, b_left, a_right, b_right):
    """Of two steps h → a * h + b, first the left one and then the right one, make one step."""
    # TODO 1: return the a and the b of the one step.


@triton.jit
def forward_kernel(
    a_ptr,
    b_ptr,
    h_ptr,
    n_steps,
    n_channels,
    stride_ab,
    stride_at,
    stride_ad,
    stride_bb,
    stride_bt,
    stride_bd,
    BLOCK_T: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """h[t] = a[t] * h[t - 1] + b[t] for BLOCK_D channels of one sequence, BLOCK_T steps at a time."""
    # TODO 2: find this program's sequence and channels, and where a, b and h of its first step lie.
    # TODO 3: for each chunk of BLOCK_T steps, read a and b. Which steps and channels exist?
    # TODO 4: let the chunk go on where the last one ended, and work out all its steps at once.
    # TODO 5: write h, and keep what the next chunk needs.


@triton.jit
def backward_kernel(
    dh_ptr,
    a_ptr,
    h_ptr,
    da_ptr,
    db_ptr,
    n_steps,
    n_channels,
    stride_dhb,
    stride_dht,
    stride_dhd,
    stride_ab,
    stride_at,
    stride_ad,
    BLOCK_T: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """db[t] = dh[t] + a[t + 1] * db[t + 1] and da[t] = db[t] * h[t - 1], from the last chunk to the first."""
    # TODO 6: go from the last chunk to the first. Which a does db[t] ask for, and which h does da[t]?
    # TODO 7: work out db from the last step of the chunk to the first, going on where the later chunk ended.
    # TODO 8: write db and da.


def tile(n_channels: int) -> dict[str, int]:
    """BLOCK_T and BLOCK_D: 2048 elements a program, of up to 32 channels, which are 128 bytes of fp32."""
    BLOCK_D = min(triton.next_power_of_2(n_channels), 32)
    return {"BLOCK_T": 2048 // BLOCK_D, "BLOCK_D": BLOCK_D}


class Scan(torch.autograd.Function):
    """Tells autograd which kernels compute h, and its gradients."""

    @staticmethod
    def forward(ctx: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        batch, n_steps, n_channels = a.shape
        h = torch.empty(batch, n_steps, n_channels, dtype=a.dtype, device=a.device)
        blocks = tile(n_channels)
        forward_kernel[(batch * triton.cdiv(n_channels, blocks["BLOCK_D"]),)](
            a, b, h, n_steps, n_channels, *a.stride(), *b.stride(), **blocks, num_warps=4
        )
        # Not b: of h and a, neither gradient asks for it.
        ctx.save_for_backward(a, h)
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dh: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        a, h = ctx.saved_tensors
        batch, n_steps, n_channels = h.shape
        da, db = torch.empty_like(h), torch.empty_like(h)
        blocks = tile(n_channels)
        backward_kernel[(batch * triton.cdiv(n_channels, blocks["BLOCK_D"]),)](
            dh, a, h, da, db, n_steps, n_channels, *dh.stride(), *a.stride(), **blocks, num_warps=4
        )
        return da, db


def scan(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return h[batch, t, d] with h[:, t] = a[:, t] * h[:, t - 1] + b[:, t], from h = 0; any strides."""
    return Scan.apply(a, b)
