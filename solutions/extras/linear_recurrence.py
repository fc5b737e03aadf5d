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
    return a_left * a_right, a_right * b_left + b_right


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
    # 64 bits: a sequence, a step or a channel may start 2**31 elements or more after the first one.
    n_blocks = tl.cdiv(n_channels, BLOCK_D)
    batch = (tl.program_id(0) // n_blocks).to(tl.int64)
    offs_d = (tl.program_id(0) % n_blocks).to(tl.int64) * BLOCK_D + tl.arange(0, BLOCK_D)
    offs_t = tl.arange(0, BLOCK_T)
    a_ptrs = a_ptr + batch * stride_ab + offs_d[None, :] * stride_ad
    b_ptrs = b_ptr + batch * stride_bb + offs_d[None, :] * stride_bd
    h_ptrs = h_ptr + batch * n_steps * n_channels + offs_d[None, :]
    carry = tl.zeros((BLOCK_D,), tl.float32)
    for start in range(0, n_steps, BLOCK_T):
        steps = (start + offs_t).to(tl.int64)[:, None]
        mask = (steps < n_steps) & (offs_d < n_channels)[None, :]
        # Each element of a and b comes from HBM once: 8 bytes in fp32.
        a = tl.load(a_ptrs + steps * stride_at, mask=mask, other=0.0).to(tl.float32)
        b = tl.load(b_ptrs + steps * stride_bt, mask=mask, other=0.0).to(tl.float32)
        # The first step of the chunk goes on where the last chunk ended; the scan hands it on to the others.
        b += tl.where(offs_t[:, None] == 0, a * carry[None, :], 0.0)
        _, h = tl.associative_scan((a, b), 0, combine)
        # The only rounding, and 4 bytes more: h goes to HBM once, and carry stays in registers, in fp32.
        tl.store(h_ptrs + steps * n_channels, h, mask=mask)
        carry = tl.sum(tl.where(offs_t[:, None] == BLOCK_T - 1, h, 0.0), axis=0)


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
    n_blocks = tl.cdiv(n_channels, BLOCK_D)
    batch = (tl.program_id(0) // n_blocks).to(tl.int64)
    offs_d = (tl.program_id(0) % n_blocks).to(tl.int64) * BLOCK_D + tl.arange(0, BLOCK_D)
    offs_t = tl.arange(0, BLOCK_T)
    dh_ptrs = dh_ptr + batch * stride_dhb + offs_d[None, :] * stride_dhd
    a_ptrs = a_ptr + batch * stride_ab + offs_d[None, :] * stride_ad
    place = batch * n_steps * n_channels + offs_d[None, :]
    carry = tl.zeros((BLOCK_D,), tl.float32)
    n_chunks = tl.cdiv(n_steps, BLOCK_T)
    for chunk in range(n_chunks):
        steps = ((n_chunks - 1 - chunk) * BLOCK_T + offs_t).to(tl.int64)[:, None]
        exists = (offs_d < n_channels)[None, :]
        mask = (steps < n_steps) & exists
        # 12 bytes in and 8 out. Behind the last step there is none: its a is 0.
        db = tl.load(dh_ptrs + steps * stride_dht, mask=mask, other=0.0).to(tl.float32)
        later = (steps + 1 < n_steps) & exists
        a = tl.load(a_ptrs + (steps + 1) * stride_at, mask=later, other=0.0).to(tl.float32)
        earlier = (steps > 0) & mask
        h = tl.load(h_ptr + place + (steps - 1) * n_channels, mask=earlier, other=0.0).to(tl.float32)
        db += tl.where(offs_t[:, None] == BLOCK_T - 1, a * carry[None, :], 0.0)
        _, db = tl.associative_scan((a, db), 0, combine, reverse=True)
        tl.store(db_ptr + place + steps * n_channels, db, mask=mask)
        tl.store(da_ptr + place + steps * n_channels, db * h, mask=mask)
        carry = tl.sum(tl.where(offs_t[:, None] == 0, db, 0.0), axis=0)


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
