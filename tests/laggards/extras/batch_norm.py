"""Extra: right answers by one program for each channel, or by way of a matrix whose rows are channels."""

from tools.planted import Laggard

BEFORE = "@triton.jit\ndef statistics_kernel("
Y = "        y = torch.empty(x.shape, dtype=x.dtype, device=x.device)\n"
SIZES = (
    "        sizes = n_images, n_channels, n_pixels\n"
    "        statistics_kernel[(n_channels * n_splits,)](\n            x,"
)
NORMALIZE = (
    "        normalize_kernel[(n_channels * n_tiles,)](\n            x, weight, bias, mean, rstd, y, *sizes,"
)
TURN = '''@triton.jit
def turn_kernel(
    x_ptr,
    matrix_ptr,
    n_images,
    n_channels,
    n_pixels,
    BACK: tl.constexpr,
    BLOCK_B: tl.constexpr,
    BLOCK_P: tl.constexpr,
):
    """Reads 2 bytes an element of fp16 and writes 4 of fp32; or BACK, 4 and 2."""
    channel = tl.program_id(0) % n_channels
    image, pixel, mask, _ = tile(tl.program_id(0) // n_channels, n_images, n_pixels, BLOCK_B, BLOCK_P)
    at_x = (image * n_channels + channel) * n_pixels + pixel
    at_matrix = (channel * n_images + image) * n_pixels + pixel
    if BACK:
        tl.store(x_ptr + at_x, tl.load(matrix_ptr + at_matrix, mask=mask), mask=mask)
    else:
        tl.store(matrix_ptr + at_matrix, tl.load(x_ptr + at_x, mask=mask), mask=mask)


'''
MATRIX = """\
        turned = torch.empty(1, n_channels, n_images, n_pixels, dtype=torch.float32, device=x.device)
        result = torch.empty_like(turned)
        turning = n_images, n_channels, n_pixels
        here = {"BLOCK_B": BLOCK_B, "BLOCK_P": BLOCK_P}
        grid = (n_channels * n_tiles,)
        turn_kernel[grid](x, turned, *turning, BACK=False, **here)
        BLOCK_B, BLOCK_P, n_tiles = blocks(turned)
        n_splits, tiles_each = splits(turned, n_tiles)
"""

laggards = [
    # 64 programs, and 132 SMs: half of them read nothing, and 4 warps keep too few bytes on their way.
    Laggard("one program sums up a channel", swap={"min(max(programs // x.shape[1], 1), 1024)": "1"}),
    # 6 bytes an element of fp16 to turn it, 4 to read it, 8 to normalise it, 6 to turn it back: 24 for 6.
    Laggard(
        "x is copied to a matrix of channels, and y back from one",
        swap={
            BEFORE: TURN + BEFORE,
            Y: Y + MATRIX,
            SIZES: (
                "        sizes = 1, n_channels, n_images * n_pixels\n"
                "        statistics_kernel[(n_channels * n_splits,)](\n            turned,"
            ),
            NORMALIZE: (
                "        normalize_kernel[(n_channels * n_tiles,)](\n"
                "            turned, weight, bias, mean, rstd, result, *sizes,"
            ),
            "        ctx.save_for_backward(": (
                "        turn_kernel[grid](y, result, *turning, BACK=True, **here)\n"
                "        ctx.save_for_backward("
            ),
        },
    ),
]
