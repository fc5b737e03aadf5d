"""Two kernels, as a library has them: to planes of floats first, and then a weighted sum of planes."""

import torch
import triton
import triton.language as tl


@triton.jit
def to_planes(image_ptr, planes_ptr, height, width, stride_h, stride_w, BLOCK: tl.constexpr):
    y = tl.program_id(0).to(tl.int64)
    x = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = x < width
    for channel in tl.static_range(3):
        value = tl.load(image_ptr + y * stride_h + x * stride_w + channel, mask=mask)
        tl.store(planes_ptr + (channel * height + y) * width + x, value.to(tl.float32), mask=mask)


@triton.jit
def add_planes(planes_ptr, grey_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    red = tl.load(planes_ptr + offs, mask=mask)
    green = tl.load(planes_ptr + n + offs, mask=mask)
    blue = tl.load(planes_ptr + n + (n + offs), mask=mask)
    # Whole numbers below 2**24 are exact in fp32, and so is a division by 256.
    grey = (77 * red + 150 * green + 29 * blue + 128) / 256
    tl.store(grey_ptr + offs, grey.to(tl.int32).to(tl.uint8), mask=mask)


def grayscale(image: torch.Tensor) -> torch.Tensor:
    height, width, _ = image.shape
    planes = torch.empty((3, height, width), dtype=torch.float32, device=image.device)
    grey = torch.empty((height, width), dtype=torch.uint8, device=image.device)
    if grey.numel():
        to_planes[(height, triton.cdiv(width, 1024))](
            image, planes, height, width, *image.stride()[:2], BLOCK=1024
        )
        add_planes[(triton.cdiv(grey.numel(), 1024),)](planes, grey, grey.numel(), BLOCK=1024)
    return grey
