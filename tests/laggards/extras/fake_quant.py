"""Extra: right values that go through memory as quotients."""

from tools.planted import Laggard

FORWARD = "@triton.jit\ndef forward_kernel("
LAUNCH = "        forward_kernel[grid](\n            x, scale, zero_point, y,"
HEAD = """    row = (tl.program_id(0) // blocks).to(tl.int64)
    cols = tl.program_id(0) % blocks * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = cols < n_cols
"""
DIVIDE = f'''@triton.jit
def divide_kernel(x_ptr, scale_ptr, v_ptr, n_cols, blocks, BLOCK_N: tl.constexpr):
    """v = x / scale: reads 2 bytes an element of bf16, writes 4."""
{HEAD}    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(v_ptr + row * n_cols + cols, x / tl.load(scale_ptr + row), mask=mask)


@triton.jit
def round_kernel(v_ptr, n_cols, blocks, BLOCK_N: tl.constexpr):
    """v, rounded: reads 4 bytes an element, writes 4."""
{HEAD}    v = tl.load(v_ptr + row * n_cols + cols, mask=mask, other=0.0)
    tl.store(v_ptr + row * n_cols + cols, libdevice.rint(v), mask=mask)


'''
LOAD = """    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    q = level(x, scale, zero_point)
    # By comparisons"""
STORED = "        {} = torch.empty(x.shape, dtype=torch.{}, device=x.device)\n"

laggards = [
    # 2 + 4, 4 + 4 and 4 + 2 bytes an element of bf16, not 2 + 2.
    Laggard(
        "quotient, rounding and clamp are kernels of their own",
        swap={
            FORWARD: DIVIDE + FORWARD,
            LAUNCH: STORED.format("v", "float32")
            + "        divide_kernel[grid](x, scale, v, x.shape[1], **shape)\n"
            + "        round_kernel[grid](v, x.shape[1], **shape)\n"
            + LAUNCH.replace(" x,", " v,"),
            LOAD: LOAD.replace("level(x, scale, zero_point)", "x + zero_point"),
        },
        stores=True,
    )
]
