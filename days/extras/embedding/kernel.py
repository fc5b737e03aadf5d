"""Extra: an embedding: rows gathered by their numbers, and gradients scattered back to them."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


@triton.jit
def forward_kernel(
    weight_ptr,
    ids_ptr,
    y_ptr,
    n_tokens,
    width,
    stride_wv,
    BLOCK_T: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """y[t] = weight[ids[t]] for BLOCK_T tokens and BLOCK_D of their columns."""
    # TODO 1: which tokens and which of their columns are this program's? Both may end within the tile.
    # TODO 2: read the ids of the tokens, then the rows that they name, each stride_wv behind the one before.
    # TODO 3: write them, token after token.


@triton.jit
def place(token, n1, n2, stride_0, stride_1, stride_2):
    """Where row number `token` of a [n0, n1, n2, width] begins, in elements behind its first."""
    return token % n2 * stride_2 + token // n2 % n1 * stride_1 + token // n2 // n1 * stride_0


@triton.jit
def backward_kernel(
    dy_ptr,
    ids_ptr,
    sums_ptr,
    n_tokens,
    n1,
    n2,
    width,
    padding_idx,
    stride_0,
    stride_1,
    stride_2,
    stride_d,
    BLOCK_T: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """Add dy[t] to sums[ids[t]], for BLOCK_T tokens and BLOCK_D of their columns; not where it is padding."""
    # TODO 4: the same tokens and columns; a token whose id is padding_idx adds nothing.
    # TODO 5: read dy, whose rows `place` finds and whose columns have a stride, too.
    # TODO 6: add to the rows of sums. Other programs may add to the same ones at the same time.


@triton.jit
def round_kernel(sums_ptr, dweight_ptr, n, BLOCK: tl.constexpr):
    """dweight[i] = sums[i], rounded to its dtype."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dweight_ptr + offs, tl.load(sums_ptr + offs, mask=offs < n, other=0.0), mask=offs < n)


def tiles(n_tokens: int, width: int) -> tuple[tuple[int], dict[str, int]]:
    """Return the grid and the sides of tiles of 4096 elements that cover so many tokens."""
    BLOCK_D = min(triton.next_power_of_2(width), 1024)
    BLOCK_T = 4096 // BLOCK_D
    grid = (triton.cdiv(n_tokens, BLOCK_T) * triton.cdiv(width, BLOCK_D),)
    return grid, {"BLOCK_T": BLOCK_T, "BLOCK_D": BLOCK_D}


def in_four(dy: torch.Tensor) -> tuple[tuple[int, int], tuple[int, ...]]:
    """Return the two inner sides of the ids, and the strides of dy, as if ids had three dimensions."""
    more = 4 - dy.dim()
    shape = (1,) * more + tuple(dy.shape)
    return shape[1:3], (0,) * more + dy.stride()


class Embedding(torch.autograd.Function):
    """Tells autograd which kernel looks rows up, and which ones add up their gradients."""

    @staticmethod
    def forward(ctx: Any, weight: torch.Tensor, ids: torch.Tensor, padding_idx: int) -> torch.Tensor:
        n_rows, width = weight.shape
        y = torch.empty(*ids.shape, width, dtype=weight.dtype, device=weight.device)
        grid, shape = tiles(ids.numel(), width)
        forward_kernel[grid](weight, ids, y, ids.numel(), width, weight.stride(0), **shape, num_warps=4)
        # The gradient of a row does not ask what stood in it.
        ctx.save_for_backward(ids)
        ctx.n_rows, ctx.padding_idx = n_rows, padding_idx
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        width = dy.shape[-1]
        dweight = torch.empty(ctx.n_rows, width, dtype=dy.dtype, device=dy.device)
        # TODO 7: thousands of tokens may have one id. In which dtype do you add them up, and from what on?
        # TODO 8: launch both kernels, or the first alone where nothing is left to round.
        return dweight, None, None


def embedding(weight: torch.Tensor, ids: torch.Tensor, padding_idx: int) -> torch.Tensor:
    """Return weight[ids] for weight[v, d], rows any distance apart, and ids of up to three dimensions.

    Row padding_idx is read like any other and gets no gradient; -1 means that there is none.
    """
    return Embedding.apply(weight, ids, padding_idx)
