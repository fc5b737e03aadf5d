"""An embedding whose gradient is a product with a matrix of zeros and ones; the forward pass is sound."""

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
    tiles_d = tl.cdiv(width, BLOCK_D)
    # 64 bits: tokens times width may pass 2**31. A row's number is int64 anyway, as ids are.
    tokens = (tl.program_id(0) // tiles_d).to(tl.int64) * BLOCK_T + tl.arange(0, BLOCK_T)
    offs_d = tl.program_id(0) % tiles_d * BLOCK_D + tl.arange(0, BLOCK_D)
    inside = tokens < n_tokens
    mask = inside[:, None] & (offs_d < width)[None, :]
    # 8 bytes a token say where to read; the rows lie anywhere, but each of them is read in whole sectors.
    ids = tl.load(ids_ptr + tokens, mask=inside, other=0)
    row = tl.load(weight_ptr + ids[:, None] * stride_wv + offs_d[None, :], mask=mask, other=0.0)
    tl.store(y_ptr + tokens[:, None] * width + offs_d[None, :], row, mask=mask)


@triton.jit
def place(token, n1, n2, stride_0, stride_1, stride_2):
    """Where row number `token` of a [n0, n1, n2, width] begins, in elements behind its first."""
    return token % n2 * stride_2 + token // n2 % n1 * stride_1 + token // n2 // n1 * stride_0


@triton.jit
def one_hot_kernel(
    dy_ptr,
    ids_ptr,
    dweight_ptr,
    n_tokens,
    n_rows,
    n1,
    n2,
    width,
    padding_idx,
    stride_0,
    stride_1,
    stride_2,
    stride_d,
    BLOCK_V: tl.constexpr,
    BLOCK_T: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """BLOCK_V rows of the gradient: every token is compared with each of them, and multiplied by 0 or 1."""
    tiles_d = tl.cdiv(width, BLOCK_D)
    offs_v = (tl.program_id(0) // tiles_d).to(tl.int64) * BLOCK_V + tl.arange(0, BLOCK_V)
    offs_d = (tl.program_id(0) % tiles_d).to(tl.int64) * BLOCK_D + tl.arange(0, BLOCK_D)
    acc = tl.zeros((BLOCK_V, BLOCK_D), tl.float32)
    for start in range(0, n_tokens, BLOCK_T):
        tokens = start + tl.arange(0, BLOCK_T).to(tl.int64)
        inside = tokens < n_tokens
        ids = tl.load(ids_ptr + tokens, mask=inside, other=-1)
        mask = (inside & (ids != padding_idx))[:, None] & (offs_d < width)[None, :]
        at = place(tokens, n1, n2, stride_0, stride_1, stride_2)
        dy = tl.load(dy_ptr + at[:, None] + offs_d[None, :] * stride_d, mask=mask, other=0.0)
        same = (inside & (ids != padding_idx))[None, :] & (ids[None, :] == offs_v[:, None])
        acc = tl.dot(tl.where(same, 1.0, 0.0).to(dy.dtype), dy, acc, input_precision="ieee")
    mask = (offs_v < n_rows)[:, None] & (offs_d < width)[None, :]
    tl.store(dweight_ptr + offs_v[:, None] * width + offs_d[None, :], acc, mask=mask)


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
        (ids,) = ctx.saved_tensors
        width = dy.shape[-1]
        dweight = torch.empty(ctx.n_rows, width, dtype=dy.dtype, device=dy.device)
        sides, strides = in_four(dy)
        grid = (triton.cdiv(ctx.n_rows, 64) * triton.cdiv(width, 64),)
        one_hot_kernel[grid](
            dy, ids, dweight, ids.numel(), ctx.n_rows, *sides, width, ctx.padding_idx, *strides,
            BLOCK_V=64, BLOCK_T=64, BLOCK_D=64,
        )  # fmt: skip
        return dweight, None, None


def embedding(weight: torch.Tensor, ids: torch.Tensor, padding_idx: int) -> torch.Tensor:
    """Return weight[ids] for weight[v, d], rows any distance apart, and ids of up to three dimensions.

    Row padding_idx is read like any other and gets no gradient; -1 means that there is none.
    """
    return Embedding.apply(weight, ids, padding_idx)
