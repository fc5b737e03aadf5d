"""Extra: right numbers whose absmax goes through memory, or whose blocks are found by divisions."""

from __future__ import annotations

from grader.dev.planted import Laggard

BEFORE = "@triton.jit\ndef dequantize_kernel("
HEAD = """    LEVELS: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCK2: tl.constexpr,
    ROWS: tl.constexpr,
):
    \"\"\"ROWS blocks of y: a level times the absmax of its block, which is a code itself.\"\"\"
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    offs_byte = rows[:, None] * (BLOCK // 2) + tl.arange(0, BLOCK // 2)[None, :]
"""
RESTORE = """    there = rows * BLOCK < n
    code = tl.load(codes_ptr + rows, mask=there, other=0).to(tl.int32)
    scale = tl.load(scales_ptr + rows // BLOCK2, mask=there, other=0.0)
    absmax = tl.load(table_ptr + code) * scale + tl.load(offset_ptr)
"""
STORE = """    offs = rows[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    tl.store(y_ptr + offs, level * absmax[:, None], mask=offs < n)
"""
LAUNCH = """    dequantize_kernel[grid](
        packed,
        codes,
        table,
        scales,
        offset,
"""
SIZES = """        LEVELS=LEVELS,
        BLOCK=block,
        BLOCK2=block2,
        ROWS=ELEMENTS // block,
"""
WARPS = "        num_warps=4,\n"

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
    # Two divisions of 64 bits a weight, by numbers that the compiler does not know.
    Laggard(
        "block sizes that are no constexpr",
        swap={
            HEAD: """    block,
    block2,
    LEVELS: tl.constexpr,
    SIZE: tl.constexpr,
):
    offs_byte = tl.program_id(0).to(tl.int64) * (SIZE // 2) + tl.arange(0, SIZE // 2)
""",
            "packed = tl.ravel(tl.load(packed_ptr + offs_byte, mask=2 * offs_byte < n, other=0))": (
                "packed = tl.load(packed_ptr + offs_byte, mask=2 * offs_byte < n, other=0)"
            ),
            "level = tl.reshape(tl.interleave(high, low), (ROWS, BLOCK))": (
                "level = tl.interleave(high, low)\n"
                "    offs = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)\n"
                "    rows = offs // block"
            ),
            RESTORE: RESTORE.replace("rows * BLOCK", "offs").replace("// BLOCK2", "// block2"),
            STORE: "    tl.store(y_ptr + offs, level * absmax, mask=offs < n)\n",
            SIZES: "        block,\n        block2,\n        LEVELS=LEVELS,\n        SIZE=ELEMENTS,\n",
        },
    ),
    # 4.2 million programs, which move 160 bytes each.
    Laggard(
        "one block of 64 a program, by one warp",
        swap={
            "device=packed.device)\n    grid = (triton.cdiv(n, ELEMENTS),)\n": (
                "device=packed.device)\n    grid = (triton.cdiv(n, block),)\n"
            ),
            SIZES + WARPS: SIZES.replace("ELEMENTS // block", "1") + WARPS.replace("4", "1"),
        },
    ),
]
