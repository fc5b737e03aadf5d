"""Day 25: dropout that keeps no mask: the backward pass works it out again."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit
def dropout_kernel(
    x_ptr, y_ptr, M, N, n_blocks, stride_xb, stride_xm, stride_xn, p, scale, seed, BLOCK: tl.constexpr
):
    """y[b, m, n] = scale * x[b, m, n] where kept, else 0; a program owns BLOCK elements of one row of x."""
    # TODO 1: which row, which part of it? Number its elements in row-major order, in 64 bits.
    # TODO 2: draw day 24's random numbers, by seed and those numbers alone.
    # TODO 3: read x where its strides put it; write y, which is contiguous, where the numbers say.


def joined(x: torch.Tensor) -> tuple[list[int], list[int]]:
    """Sizes and strides of x as three dimensions, those joined that follow on one another in memory."""
    sizes, strides = [1, 1, 1], [0, 0, 0]
    for size, stride in zip(x.shape, x.stride(), strict=True):
        if size == 1:
            continue  # never stepped along, so its stride may be anything
        if sizes[-1] == 1 or strides[-1] == size * stride:
            sizes[-1], strides[-1] = sizes[-1] * size, stride
        else:
            sizes, strides = [*sizes[1:], size], [*strides[1:], stride]
    return sizes, strides


def drop(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    """Return x / (1 - p) where kept and 0 elsewhere, contiguous."""
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    # TODO 4: the scale, BLOCK, how many blocks a row has, the launch. `joined` is there if you want it.
    return y


class Dropout(torch.autograd.Function):
    """y = keep * x / (1 - p), so dx = keep * dy / (1 - p): the same function, of another tensor."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
        # TODO 5: note what backward will need: numbers, no tensors.
        return drop(x, p, seed)

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        """One gradient for each argument of forward; a number has none."""
        # TODO 6: the gradient of x. dy may lie in any way, too.


def dropout(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    """Return x / (1 - p) where kept and 0 elsewhere, contiguous; x has up to three dimensions, any strides.

    Element i, in row-major order, is kept by (seed, i, p) alone. Differentiable in x.
    """
    return Dropout.apply(x, p, seed)
