"""Extra: SwiGLU and GeGLU, an activation times a gate's partner, forward and backward in a pass each."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


@triton.jit
def gate_parts(g, GEGLU: tl.constexpr):
    """p and its slope dp, both fp32, such that the activation of g is g * p(g): p is a sigmoid in both."""
    # TODO 1: which sigmoid is it in either case, and what is its derivative with respect to g?


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
    # TODO 2: find this program's tile: row blocks and column blocks are counted by one program id.
    # TODO 3: read gate and up, each with a row stride of its own, and write y, which is contiguous.


@triton.jit
def backward_kernel(
    dy_ptr,
    gate_ptr,
    up_ptr,
    dgate_ptr,
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
    """dgate = dy * up * activation'(gate) and dup = dy * activation(gate), for one tile."""
    # TODO 4: the same tile once more. Nobody promises how dy lies: use both of its strides.
    # TODO 5: read dy, gate and up once, and write both gradients from them.


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
        backward_kernel[grid](
            dy,
            gate,
            up,
            dgate,
            dup,
            n_rows,
            n_cols,
            *dy.stride(),
            gate.stride(0),
            up.stride(0),
            GEGLU=ctx.geglu,
            **shape,
            num_warps=4,
        )
        return dgate, dup, None


def swiglu(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """Return silu(gate) * up; both [m, n], the rows of each any distance apart."""
    return GatedUnit.apply(gate, up, False)


def geglu(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """Return gelu(gate) * up, gelu in its tanh form; both [m, n], the rows of each any distance apart."""
    return GatedUnit.apply(gate, up, True)
