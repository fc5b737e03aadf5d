"""Gated units whose gradients are computed by a kernel each; the forward pass is sound."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


@triton.jit
def gate_parts(g, GEGLU: tl.constexpr):
    """p and its slope dp, both fp32, such that the activation of g is g * p(g): p is a sigmoid in both."""
    if GEGLU:
        # gelu's 0.5 (1 + tanh z) is sigmoid(2z), with 2z = g (1.5957691 + 0.0713548 g**2).
        p = tl.sigmoid(g * (1.5957691 + 0.07135481 * g * g))
        dp = p * (1 - p) * (1.5957691 + 0.21406444 * g * g)
    else:
        p = tl.sigmoid(g)
        dp = p * (1 - p)
    return p, dp


@triton.jit
def forward_kernel(
    gate_ptr,
    up_ptr,
    y_ptr,
    n_rows,
    n_cols,
    stride_gm,
    stride_um,
    GEGLU: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """y = activation(gate) * up; a program owns a tile of BLOCK_M rows and BLOCK_N columns."""
    # Tiles are counted along a row first; 64 bits: row number times stride may pass 2**31.
    tiles_n = tl.cdiv(n_cols, BLOCK_N)
    offs_m = (tl.program_id(0) // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(0) % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m < n_rows)[:, None] & (offs_n < n_cols)[None, :]
    # 2 reads and 1 write, 6 bytes an element of bf16; the activation itself never leaves the chip.
    gate = tl.load(gate_ptr + offs_m[:, None] * stride_gm + offs_n[None, :], mask=mask, other=0.0)
    up = tl.load(up_ptr + offs_m[:, None] * stride_um + offs_n[None, :], mask=mask, other=0.0)
    g, u = gate.to(tl.float32), up.to(tl.float32)
    p, _ = gate_parts(g, GEGLU)
    # Rounded once, after the product.
    tl.store(y_ptr + offs_m[:, None] * n_cols + offs_n[None, :], g * p * u, mask=mask)


@triton.jit
def dgate_kernel(
    dy_ptr,
    gate_ptr,
    up_ptr,
    dgate_ptr,
    n_rows,
    n_cols,
    stride_dym,
    stride_dyn,
    stride_gm,
    stride_um,
    GEGLU: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """Reads 3mn, writes mn."""
    tiles_n = tl.cdiv(n_cols, BLOCK_N)
    offs_m = (tl.program_id(0) // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = (tl.program_id(0) % tiles_n).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m < n_rows)[:, None] & (offs_n < n_cols)[None, :]
    dy = tl.load(dy_ptr + offs_m[:, None] * stride_dym + offs_n[None, :] * stride_dyn, mask=mask, other=0.0)
    gate = tl.load(gate_ptr + offs_m[:, None] * stride_gm + offs_n[None, :], mask=mask, other=0.0)
    up = tl.load(up_ptr + offs_m[:, None] * stride_um + offs_n[None, :], mask=mask, other=0.0)
    dy, g, u = dy.to(tl.float32), gate.to(tl.float32), up.to(tl.float32)
    p, dp = gate_parts(g, GEGLU)
    out = offs_m[:, None] * n_cols + offs_n[None, :]
    tl.store(dgate_ptr + out, dy * u * (p + g * dp), mask=mask)


@triton.jit
def dup_kernel(
    dy_ptr,
    gate_ptr,
    up_ptr,
    dup_ptr,
    n_rows,
    n_cols,
    stride_dym,
    stride_dyn,
    stride_gm,
    stride_um,
    GEGLU: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """Reads 3mn, up without need, writes mn."""
    tiles_n = tl.cdiv(n_cols, BLOCK_N)
    offs_m = (tl.program_id(0) // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = (tl.program_id(0) % tiles_n).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m < n_rows)[:, None] & (offs_n < n_cols)[None, :]
    dy = tl.load(dy_ptr + offs_m[:, None] * stride_dym + offs_n[None, :] * stride_dyn, mask=mask, other=0.0)
    gate = tl.load(gate_ptr + offs_m[:, None] * stride_gm + offs_n[None, :], mask=mask, other=0.0)
    up = tl.load(up_ptr + offs_m[:, None] * stride_um + offs_n[None, :], mask=mask, other=0.0)
    dy, g, u = dy.to(tl.float32), gate.to(tl.float32), up.to(tl.float32)
    p, _ = gate_parts(g, GEGLU)
    out = offs_m[:, None] * n_cols + offs_n[None, :]
    tl.store(dup_ptr + out, dy * (g * p) + 0 * u, mask=mask)


def tiles(n_rows: int, n_cols: int, elements: int) -> tuple[tuple[int], dict[str, int]]:
    """Return the grid and the sides of tiles of so many elements that cover [n_rows, n_cols]."""
    BLOCK_N = min(triton.next_power_of_2(n_cols), 1024)
    BLOCK_M = max(elements // BLOCK_N, 1)
    grid = (triton.cdiv(n_rows, BLOCK_M) * triton.cdiv(n_cols, BLOCK_N),)
    return grid, {"BLOCK_M": BLOCK_M, "BLOCK_N": BLOCK_N}


class GatedUnit(torch.autograd.Function):
    """Tells autograd which kernels compute activation(gate) * up, and both its gradients."""

    @staticmethod
    def forward(ctx: Any, gate: torch.Tensor, up: torch.Tensor, geglu: bool) -> torch.Tensor:
        n_rows, n_cols = gate.shape
        y = torch.empty(n_rows, n_cols, dtype=gate.dtype, device=gate.device)
        # 32 elements a thread at 4 warps: four 16-byte loads of each input in flight.
        grid, shape = tiles(n_rows, n_cols, elements=4096)
        forward_kernel[grid](
            gate, up, y, n_rows, n_cols, gate.stride(0), up.stride(0), GEGLU=geglu, **shape, num_warps=4
        )
        # Both exist anyway. The activation is cheaper to compute again than to keep.
        ctx.save_for_backward(gate, up)
        ctx.geglu = geglu
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        gate, up = ctx.saved_tensors
        n_rows, n_cols = gate.shape
        dgate = torch.empty(n_rows, n_cols, dtype=gate.dtype, device=gate.device)
        dup = torch.empty_like(dgate)
        # Half as many, since three inputs and two results share the registers.
        grid, shape = tiles(n_rows, n_cols, elements=2048)
        rest = (n_rows, n_cols, *dy.stride(), gate.stride(0), up.stride(0))
        dgate_kernel[grid](dy, gate, up, dgate, *rest, GEGLU=ctx.geglu, **shape)
        dup_kernel[grid](dy, gate, up, dup, *rest, GEGLU=ctx.geglu, **shape)
        return dgate, dup, None


def swiglu(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """Return silu(gate) * up; both [m, n], the rows of each any distance apart."""
    return GatedUnit.apply(gate, up, False)


def geglu(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """Return gelu(gate) * up, gelu in its tanh form; both [m, n], the rows of each any distance apart."""
    return GatedUnit.apply(gate, up, True)
