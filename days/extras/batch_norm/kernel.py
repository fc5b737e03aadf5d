"""Extra: batch norm of pictures, training: statistics of channels that lie in pieces, and their gradients."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


@triton.jit
def tile(t, n_images, n_pixels, BLOCK_B: tl.constexpr, BLOCK_P: tl.constexpr):
    """Of tile t of a channel: its images [BLOCK_B, 1] and pixels [1, BLOCK_P], which exist, and how many."""
    # TODO 1: which images and which pixels tile t has; tiles lie side by side in a row of images, row by row.
    # TODO 2: which of them exist, and how many those are.


@triton.jit
def place_of_dy(
    image,
    channel,
    pixel,
    n_channels,
    n_pixels,
    width,
    stride_b,
    stride_c,
    stride_h,
    stride_w,
    FLAT: tl.constexpr,
):
    """Where dy's elements lie; FLAT: contiguous. Whoever uses y decides how dy lies."""
    if FLAT:
        offset = (image * n_channels + channel) * n_pixels + pixel
    else:
        row, column = (pixel // width).to(tl.int64), (pixel % width).to(tl.int64)
        offset = image * stride_b + channel.to(tl.int64) * stride_c + row * stride_h + column * stride_w
    return offset


@triton.jit
def statistics_kernel(
    x_ptr,
    part_ptr,
    n_images,
    n_channels,
    n_pixels,
    n_tiles,
    tiles_each,
    n_splits,
    BLOCK_B: tl.constexpr,
    BLOCK_P: tl.constexpr,
):
    """Part (channel, split): count, mean and sum of squared deviations of that split's run of tiles."""
    # TODO 3: the channel of this program, and its run of tiles.
    # TODO 4: of each tile the mean, and the squared deviations from it; read x once.
    # TODO 5: join each tile with all before it, and store three numbers where no other program does.


@triton.jit
def finish_kernel(
    part_ptr,
    mean_ptr,
    rstd_ptr,
    running_mean_ptr,
    running_var_ptr,
    n_splits,
    momentum,
    eps,
    BLOCK: tl.constexpr,
):
    """All splits of one channel together: its mean and rstd, and one step of its running statistics."""
    # TODO 6: join the splits of this channel, which have different counts and means.
    # TODO 7: store what y takes, and move the running statistics; which variance does each of the two want?


@triton.jit
def normalize_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    mean_ptr,
    rstd_ptr,
    y_ptr,
    n_images,
    n_channels,
    n_pixels,
    BLOCK_B: tl.constexpr,
    BLOCK_P: tl.constexpr,
):
    """y of one tile of one channel."""
    # TODO 8: y of one tile, each element read once and written once.


@triton.jit
def gradient_sums_kernel(
    dy_ptr,
    x_ptr,
    mean_ptr,
    rstd_ptr,
    part_ptr,
    n_images,
    n_channels,
    n_pixels,
    n_tiles,
    tiles_each,
    n_splits,
    width,
    stride_b,
    stride_c,
    stride_h,
    stride_w,
    FLAT: tl.constexpr,
    BLOCK_B: tl.constexpr,
    BLOCK_P: tl.constexpr,
):
    """Part (channel, split): the sums of dy and of dy * x_hat over that split's run of tiles."""
    # TODO 9: both sums over this split's run of tiles, with x_hat computed again.


@triton.jit
def finish_gradients_kernel(part_ptr, dweight_ptr, dbias_ptr, total_ptr, n_splits, BLOCK: tl.constexpr):
    """dweight and dbias of one channel, rounded; and both sums as they are, for dx."""
    # TODO 10: add up the splits, and store each sum for both of its readers.


@triton.jit
def dx_kernel(
    dy_ptr,
    x_ptr,
    weight_ptr,
    mean_ptr,
    rstd_ptr,
    total_ptr,
    dx_ptr,
    n_images,
    n_channels,
    n_pixels,
    n,
    width,
    stride_b,
    stride_c,
    stride_h,
    stride_w,
    FLAT: tl.constexpr,
    BLOCK_B: tl.constexpr,
    BLOCK_P: tl.constexpr,
):
    """dx of one tile of one channel of n elements."""
    # TODO 11: dx of one tile: dy less what mean and rstd take of it.


def blocks(x: torch.Tensor) -> tuple[int, int, int]:
    """Return the sides of a tile of 4096 elements at most, and how many of them cover a channel of x."""
    n_images, n_pixels = x.shape[0], x.shape[2] * x.shape[3]
    # Rows of 1024: of 112 x 112 pixels 12.25, so that 6 % of the lanes find nothing.
    BLOCK_P = min(triton.next_power_of_2(n_pixels), 1024)
    BLOCK_B = min(triton.next_power_of_2(n_images), 4096 // BLOCK_P)
    return BLOCK_B, BLOCK_P, triton.cdiv(n_images, BLOCK_B) * triton.cdiv(n_pixels, BLOCK_P)


def splits(x: torch.Tensor, n_tiles: int) -> tuple[int, int]:
    """Return how many programs share the tiles of a channel of x, and how many tiles each of them takes."""
    programs = 4
    if x.is_cuda:
        # 16 programs of 4 warps fill an SM.
        programs = 16 * torch.cuda.get_device_properties(x.device).multi_processor_count
    # The parts of a channel are joined by one block, so that 1024 are enough.
    tiles_each = triton.cdiv(n_tiles, min(max(programs // x.shape[1], 1), 1024))
    return triton.cdiv(n_tiles, tiles_each), tiles_each


class BatchNorm(torch.autograd.Function):
    """Tells autograd which kernels compute y, and which its gradients."""

    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor,
        running_mean: torch.Tensor,
        running_var: torch.Tensor,
        momentum: float,
        eps: float,
    ) -> torch.Tensor:
        n_images, n_channels, n_pixels = x.shape[0], x.shape[1], x.shape[2] * x.shape[3]
        BLOCK_B, BLOCK_P, n_tiles = blocks(x)
        n_splits, tiles_each = splits(x, n_tiles)
        y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        part = torch.empty(n_channels, n_splits, 3, dtype=torch.float32, device=x.device)
        mean = torch.empty(n_channels, dtype=torch.float32, device=x.device)
        rstd = torch.empty(n_channels, dtype=torch.float32, device=x.device)
        sizes = n_images, n_channels, n_pixels
        statistics_kernel[(n_channels * n_splits,)](
            x, part, *sizes, n_tiles, tiles_each, n_splits, BLOCK_B=BLOCK_B, BLOCK_P=BLOCK_P, num_warps=4
        )
        finish_kernel[(n_channels,)](
            part,
            mean,
            rstd,
            running_mean,
            running_var,
            n_splits,
            momentum,
            eps,
            BLOCK=triton.next_power_of_2(n_splits),
            num_warps=1,
        )
        normalize_kernel[(n_channels * n_tiles,)](
            x, weight, bias, mean, rstd, y, *sizes, BLOCK_B=BLOCK_B, BLOCK_P=BLOCK_P, num_warps=4
        )
        ctx.save_for_backward(x, weight, mean, rstd)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, weight, mean, rstd = ctx.saved_tensors
        n_images, n_channels, n_pixels = x.shape[0], x.shape[1], x.shape[2] * x.shape[3]
        BLOCK_B, BLOCK_P, n_tiles = blocks(x)
        n_splits, tiles_each = splits(x, n_tiles)
        dx = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        dweight, dbias = torch.empty_like(weight), torch.empty_like(weight)
        part = torch.empty(n_channels, n_splits, 2, dtype=torch.float32, device=x.device)
        total = torch.empty(n_channels, 2, dtype=torch.float32, device=x.device)
        sizes = n_images, n_channels, n_pixels
        dy_lies = x.shape[3], *dy.stride(), dy.is_contiguous()
        gradient_sums_kernel[(n_channels * n_splits,)](
            dy,
            x,
            mean,
            rstd,
            part,
            *sizes,
            n_tiles,
            tiles_each,
            n_splits,
            *dy_lies,
            BLOCK_B=BLOCK_B,
            BLOCK_P=BLOCK_P,
            num_warps=4,
        )
        finish_gradients_kernel[(n_channels,)](
            part, dweight, dbias, total, n_splits, BLOCK=triton.next_power_of_2(n_splits), num_warps=1
        )
        dx_kernel[(n_channels * n_tiles,)](
            dy,
            x,
            weight,
            mean,
            rstd,
            total,
            dx,
            *sizes,
            n_images * n_pixels,
            *dy_lies,
            BLOCK_B=BLOCK_B,
            BLOCK_P=BLOCK_P,
            num_warps=4,
        )
        return dx, dweight, dbias, None, None, None, None


def batch_norm(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    running_mean: torch.Tensor,
    running_var: torch.Tensor,
    momentum: float,
    eps: float,
) -> torch.Tensor:
    """Return x[b, c, h, w] with mean 0 and variance 1 in each channel, times weight[c] plus bias[c].

    running_mean[c] and running_var[c], fp32, move by momentum towards mean and unbiased variance, in place.
    """
    return BatchNorm.apply(x, weight, bias, running_mean, running_var, momentum, eps)
