"""Extra: right answers that store slopes, or whose sum waits for one program."""

from tools.planted import Laggard

BACKWARD = "        backward_kernel[(triton.cdiv(n, 2048),)](\n            dmean, x, y, dx, dy,"
BEFORE = "@triton.jit\ndef mean_kernel("
COMPOSED = '''@triton.jit
def slope_kernel(x_ptr, y_ptr, slope_ptr, n, delta, HUBER: tl.constexpr, BLOCK: tl.constexpr):
    """Of contiguous x and y. Reads 8 bytes an element, writes 4."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + offs, mask=offs < n, other=0.0).to(tl.float32)
    tl.store(slope_ptr + offs, slope(x - y, delta, HUBER), mask=offs < n)


@triton.jit
def scale_kernel(dmean_ptr, slope_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Reads 4 bytes an element, writes 4."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(slope_ptr + offs, mask=offs < n, other=0.0) * (tl.load(dmean_ptr) / n)
    tl.store(out_ptr + offs, value, mask=offs < n)


@triton.jit
def minus_kernel(in_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Reads 4 bytes an element, writes 4."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, -tl.load(in_ptr + offs, mask=offs < n, other=0.0), mask=offs < n)


'''
ONE_BY_ONE = """        if ctx.how["FLAT"] and dx is not None and dy is not None:
            grid = (triton.cdiv(n, 2048),)
            steep, scaled = (torch.empty(n, dtype=torch.float32, device=x.device) for _ in range(2))
            slope_kernel[grid](x, y, steep, n, ctx.delta, HUBER=ctx.how["HUBER"], BLOCK=2048)
            scale_kernel[grid](dmean, steep, scaled, n, BLOCK=2048)
            scale_kernel[grid](dmean, steep, dx, n, BLOCK=2048)
            minus_kernel[grid](scaled, dy, n, BLOCK=2048)
            return dx, dy, None, None
"""

laggards = [
    # 8 bytes an element forwards; 12 + 8 + 8 + 8 backwards: 44 where 24 would do.
    Laggard(
        "slopes, their product and each gradient by a kernel of its own",
        swap={BEFORE: COMPOSED + BEFORE, BACKWARD: ONE_BY_ONE + BACKWARD},
    ),
    # 2 million parts, by one SM of 132.
    Laggard(
        "one program adds up a part for every 64 elements",
        swap={
            "n_parts = triton.cdiv(n, 2048)": "n_parts = triton.cdiv(n, 64)",
            '"HUBER": huber, "BLOCK": 2048}': '"HUBER": huber, "BLOCK": 64}',
            "backward_kernel[(triton.cdiv(n, 2048),)]": "backward_kernel[(triton.cdiv(n, 64),)]",
            "BLOCK=16384, num_warps=32": "BLOCK=64, num_warps=1",
        },
    ),
]
