"""A box filter as image kernels come over from CUDA: a lane for a pixel, channels one by one, int32.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def box_filter_kernel(in_ptr, out_ptr, height, width, RADIUS: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    pixel = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    valid = pixel < height * width
    y = pixel // width
    x = pixel % width
    for channel in tl.static_range(3):
        acc = tl.zeros([BLOCK_SIZE], dtype=tl.int32)
        count = tl.zeros([BLOCK_SIZE], dtype=tl.int32)
        for dy in range(-RADIUS, RADIUS + 1):
            for dx in range(-RADIUS, RADIUS + 1):
                yy = y + dy
                xx = x + dx
                inside = valid & (yy >= 0) & (yy < height) & (xx >= 0) & (xx < width)
                acc += tl.load(in_ptr + (yy * width + xx) * 3 + channel, mask=inside, other=0).to(tl.int32)
                count += inside.to(tl.int32)
        count = tl.where(valid, count, 1)
        mean = (acc + count // 2) // count
        tl.store(out_ptr + pixel * 3 + channel, mean.to(tl.uint8), mask=valid)


def box_blur(image: torch.Tensor, radius: int) -> torch.Tensor:
    assert image.dtype == torch.uint8 and image.is_contiguous()
    height, width, _ = image.shape
    output = torch.empty_like(image)
    grid = lambda meta: (triton.cdiv(height * width, meta["BLOCK_SIZE"]),)  # noqa: E731
    box_filter_kernel[grid](image, output, height, width, RADIUS=radius, BLOCK_SIZE=256)
    return output
