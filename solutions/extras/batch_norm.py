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
    tiles_a_row = tl.cdiv(n_pixels, BLOCK_P)
    first_b = t // tiles_a_row * BLOCK_B
    first_p = t % tiles_a_row * BLOCK_P
    # 64 bits: an image may start 2**31 elements or more after the first one.
    image = (first_b + tl.arange(0, BLOCK_B)).to(tl.int64)[:, None]
    pixel = (first_p + tl.arange(0, BLOCK_P))[None, :]
    mask = (image < n_images) & (pixel < n_pixels)
    count = tl.minimum(n_images - first_b, BLOCK_B) * tl.minimum(n_pixels - first_p, BLOCK_P)
    return image, pixel, mask, count


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
    channel = tl.program_id(0) // n_splits
    split = tl.program_id(0) % n_splits
    count, mean, m2 = 0.0, 0.0, 0.0
    for t in range(split * tiles_each, min((split + 1) * tiles_each, n_tiles)):
        image, pixel, mask, size = tile(t, n_images, n_pixels, BLOCK_B, BLOCK_P)
        # 2 bytes an element of fp16, the first of two reads of x: a channel does not fit into registers.
        offs = (image * n_channels + channel) * n_pixels + pixel
        x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        # The tile does fit: its deviations are from its own mean, and are not read again.
        mean_of_tile = tl.sum(tl.sum(x, axis=1), axis=0) / size
        deviation = tl.where(mask, x - mean_of_tile, 0.0)
        m2_of_tile = tl.sum(tl.sum(deviation * deviation, axis=1), axis=0)
        # Two groups as one: between their means lie squares that neither of them has seen.
        delta = mean_of_tile - mean
        share = size / (count + size)
        m2 += m2_of_tile + delta * delta * count * share
        mean += delta * share
        count += size
    at = part_ptr + (channel * n_splits + split) * 3
    tl.store(at, count)
    tl.store(at + 1, mean)
    tl.store(at + 2, m2)


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
    channel = tl.program_id(0)
    split = tl.arange(0, BLOCK)
    mask = split < n_splits
    at = part_ptr + (channel * n_splits + split) * 3
    count = tl.load(at, mask=mask, other=0.0)
    means = tl.load(at + 1, mask=mask, other=0.0)
    m2 = tl.load(at + 2, mask=mask, other=0.0)
    n = tl.sum(count, axis=0)
    mean = tl.sum(means * (count / n), axis=0)
    # Within the splits, and between them. A split that is not there counts 0.
    m2 = tl.sum(m2 + count * (means - mean) * (means - mean), axis=0)
    tl.store(mean_ptr + channel, mean)
    tl.store(rstd_ptr + channel, tl.rsqrt(m2 / n + eps))
    # One program a channel, so that nobody else reads or writes its running statistics.
    running_mean = tl.load(running_mean_ptr + channel)
    running_var = tl.load(running_var_ptr + channel)
    tl.store(running_mean_ptr + channel, running_mean + momentum * (mean - running_mean))
    tl.store(running_var_ptr + channel, running_var + momentum * (m2 / (n - 1) - running_var))


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
    channel = tl.program_id(0) % n_channels
    image, pixel, mask, _ = tile(tl.program_id(0) // n_channels, n_images, n_pixels, BLOCK_B, BLOCK_P)
    # 2 bytes in and 2 out: with the first read 6 an element of fp16.
    offs = (image * n_channels + channel) * n_pixels + pixel
    x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    mean, rstd = tl.load(mean_ptr + channel), tl.load(rstd_ptr + channel)
    weight = tl.load(weight_ptr + channel).to(tl.float32)
    bias = tl.load(bias_ptr + channel).to(tl.float32)
    tl.store(y_ptr + offs, (x - mean) * (rstd * weight) + bias, mask=mask)


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
    channel = tl.program_id(0) // n_splits
    split = tl.program_id(0) % n_splits
    mean, rstd = tl.load(mean_ptr + channel), tl.load(rstd_ptr + channel)
    sum_dy = tl.zeros((BLOCK_B, BLOCK_P), tl.float32)
    sum_dy_x_hat = tl.zeros((BLOCK_B, BLOCK_P), tl.float32)
    for t in range(split * tiles_each, min((split + 1) * tiles_each, n_tiles)):
        image, pixel, mask, _ = tile(t, n_images, n_pixels, BLOCK_B, BLOCK_P)
        # 4 bytes an element of fp16. x_hat is computed again: to keep it would take a write more.
        offs = (image * n_channels + channel) * n_pixels + pixel
        at_dy = place_of_dy(
            image, channel, pixel, n_channels, n_pixels, width, stride_b, stride_c, stride_h, stride_w, FLAT
        )
        x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + at_dy, mask=mask, other=0.0).to(tl.float32)
        sum_dy += dy
        sum_dy_x_hat += dy * ((x - mean) * rstd)
    at = part_ptr + (channel * n_splits + split) * 2
    tl.store(at, tl.sum(tl.sum(sum_dy, axis=1), axis=0))
    tl.store(at + 1, tl.sum(tl.sum(sum_dy_x_hat, axis=1), axis=0))


@triton.jit
def finish_gradients_kernel(part_ptr, dweight_ptr, dbias_ptr, total_ptr, n_splits, BLOCK: tl.constexpr):
    """dweight and dbias of one channel, rounded; and both sums as they are, for dx."""
    channel = tl.program_id(0)
    split = tl.arange(0, BLOCK)
    mask = split < n_splits
    at = part_ptr + (channel * n_splits + split) * 2
    dbias = tl.sum(tl.load(at, mask=mask, other=0.0), axis=0)
    dweight = tl.sum(tl.load(at + 1, mask=mask, other=0.0), axis=0)
    tl.store(dbias_ptr + channel, dbias)
    tl.store(dweight_ptr + channel, dweight)
    tl.store(total_ptr + channel * 2, dbias)
    tl.store(total_ptr + channel * 2 + 1, dweight)


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
    channel = tl.program_id(0) % n_channels
    image, pixel, mask, _ = tile(tl.program_id(0) // n_channels, n_images, n_pixels, BLOCK_B, BLOCK_P)
    # 4 bytes in and 2 out: with the sums 10 an element of fp16.
    offs = (image * n_channels + channel) * n_pixels + pixel
    at_dy = place_of_dy(
        image, channel, pixel, n_channels, n_pixels, width, stride_b, stride_c, stride_h, stride_w, FLAT
    )
    x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + at_dy, mask=mask, other=0.0).to(tl.float32)
    mean, rstd = tl.load(mean_ptr + channel), tl.load(rstd_ptr + channel)
    weight = tl.load(weight_ptr + channel).to(tl.float32)
    mean_dy = tl.load(total_ptr + channel * 2) / n
    mean_dy_x_hat = tl.load(total_ptr + channel * 2 + 1) / n
    # The mean moves with every x, and so does rstd: what they would undo is taken away from dy.
    x_hat = (x - mean) * rstd
    tl.store(dx_ptr + offs, (dy - mean_dy - x_hat * mean_dy_x_hat) * (weight * rstd), mask=mask)


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
