"""Extra: right numbers whose absmax goes through memory, or whose levels are chosen one by one."""

from tools.planted import Laggard

BEFORE = "@triton.jit\ndef dequantize_kernel("
RESTORE = """    there = rows * BLOCK < n
    code = tl.load(codes_ptr + rows, mask=there, other=0).to(tl.int32)
    scale = tl.load(scales_ptr + rows // BLOCK2, mask=there, other=0.0)
    absmax = tl.load(table_ptr + code) * scale + tl.load(offset_ptr)
"""
STORE = """    offs = rows[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    tl.store(y_ptr + offs, level * absmax[:, None], mask=offs < n)
"""
LAUNCH = """    dequantize_kernel[grid](
…
        offset,
"""

CHAIN = '''@triton.jit
def level_of(code, LEVELS: tl.constexpr):
    """Fifteen choices, of which one at most is taken."""
    level = tl.full(code.shape, LEVELS[0], tl.float32)
    for i in tl.static_range(1, 16):
        level = tl.where(code == i, LEVELS[i], level)
    return level


'''
SPREAD = f'''@triton.jit
def spread_kernel(
    codes_ptr,
    table_ptr,
    scales_ptr,
    offset_ptr,
    wide_ptr,
    n,
    BLOCK: tl.constexpr,
    BLOCK2: tl.constexpr,
    ROWS: tl.constexpr,
):
    """The absmax of each weight, 4 bytes."""
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
{RESTORE}    offs = rows[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    tl.store(wide_ptr + offs, tl.broadcast_to(absmax[:, None], (ROWS, BLOCK)), mask=offs < n)


'''

laggards = [
    # 10.5 bytes a weight for 2.5.
    Laggard(
        "the absmax of each weight goes through memory",
        swap={
            "    packed_ptr,\n    codes_ptr,\n    table_ptr,\n    scales_ptr,\n    offset_ptr,\n": (
                "    packed_ptr,\n    wide_ptr,\n"
            ),
            RESTORE: "",
            STORE: STORE.replace(
                "level * absmax[:, None]", "level * tl.load(wide_ptr + offs, mask=offs < n)"
            ),
            LAUNCH: """    wide = torch.empty(n, dtype=torch.float32, device=packed.device)
    spread_kernel[grid](
        codes, table, scales, offset, wide, n, BLOCK=block, BLOCK2=block2, ROWS=ELEMENTS // block
    )
    dequantize_kernel[grid](
        packed,
        wide,
""",
            "        BLOCK=block,\n        BLOCK2=block2,\n": "        BLOCK=block,\n",
            "    BLOCK: tl.constexpr,\n    BLOCK2: tl.constexpr,\n": "    BLOCK: tl.constexpr,\n",
            BEFORE: SPREAD + BEFORE,
        },
    ),
    # Some 39 instructions a weight, of which 30 choose among levels.
    Laggard(
        "a level by fifteen choices, one after another",
        swap={
            "    levels = table_of(LEVELS)\n": "",
            "high = tl.gather(levels, (packed >> 4).to(tl.int32), 0)": "high = level_of(packed >> 4, LEVELS)",
            "low = tl.gather(levels, (packed & 0xF).to(tl.int32), 0)": "low = level_of(packed & 0xF, LEVELS)",
            BEFORE: CHAIN + BEFORE,
        },
    ),
]
