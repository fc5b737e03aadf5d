"""Extra: right bytes and right numbers that go through memory in between, or by the block."""

from tools.planted import Laggard

GRID = "    grid = (triton.cdiv(n, ELEMENTS),)\n"
ABSMAX = "    absmax = tl.load(absmax_ptr + rows, mask=rows * BLOCK < n, other=0.0)\n"
LAUNCHED = "ROWS=ELEMENTS // block, num_warps=4\n    )\n    return "
LEVEL = "tl.reshape(tl.interleave(high, low), (ROWS, BLOCK))"
OUT = "    y = torch.empty(n, dtype=torch.float16, device=packed.device)\n"
SCALE = f'''@triton.jit
def scale_kernel(level_ptr, absmax_ptr, y_ptr, n, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """4 bytes in, 2 out."""
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    offs = rows[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
{ABSMAX}    level = tl.load(level_ptr + offs, mask=offs < n, other=0.0)
    tl.store(y_ptr + offs, level * absmax[:, None], mask=offs < n)


'''

laggards = [
    # 10.5 bytes an element for 2.5: levels of 4 bytes are written, and read again to be scaled.
    Laggard(
        "levels go through memory in fp32",
        swap={
            "packed_ptr, absmax_ptr, y_ptr, n, n_bytes, LEVELS": "packed_ptr, y_ptr, n, n_bytes, LEVELS",
            ABSMAX: "",
            f"{LEVEL} * absmax[:, None]": LEVEL,
            "def nf4_quantize(": f"{SCALE}def nf4_quantize(",
            OUT: OUT + OUT.replace("y =", "level =").replace("float16", "float32"),
            "packed, absmax, y, n, len(packed), LEVELS": "packed, level, n, len(packed), LEVELS",
            "    )\n    return y": (
                "    )\n    scale_kernel[grid](level, absmax, y, n, BLOCK=block, ROWS=ELEMENTS // block)\n"
                "    return y"
            ),
        },
    ),
    # 4.2 million programs, which move 160 bytes each.
    Laggard(
        "one block of 64 a program, by one warp",
        swap={
            "ELEMENTS = 4096": "ELEMENTS = 64",
            f"{LAUNCHED}packed": "ROWS=1, num_warps=1\n    )\n    return packed",
            f"{LAUNCHED}y": "ROWS=1, num_warps=1\n    )\n    return y",
            f"range(15))\n{GRID}": "range(15))\n    grid = (triton.cdiv(n, block),)\n",
            f"device=packed.device)\n{GRID}": "device=packed.device)\n    grid = (triton.cdiv(n, block),)\n",
        },
    ),
]
