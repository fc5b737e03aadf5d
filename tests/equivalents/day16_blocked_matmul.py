"""Mutants of day 16 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:matmul_kernel",
        "first_n = (tl.program_id(0) % strips).to(tl.int64) * steps * BLOCK_N",
        "first_n = tl.program_id(0) % strips * steps * BLOCK_N",
        "k <= 128: an operand of 2³¹ elements has more tiles than axis 1 of a grid takes, so none is tried",
    ),
    Equivalent(
        "solution:matmul_kernel",
        "offs_k = tl.arange(0, BLOCK_K).to(tl.int64)",
        "offs_k = tl.arange(0, BLOCK_K)",
        "k <= 128: an operand of 2³¹ elements has more tiles than axis 1 of a grid takes, so none is tried",
    ),
    Equivalent(
        "solution:matmul",
        "tiles_m, tiles_n = triton.cdiv(m, BLOCK_M), triton.cdiv(n, BLOCK_N)",
        "tiles_m, tiles_n = triton.cdiv(m, BLOCK_M), n // BLOCK_N",
        "slower alone: how many tiles a program makes; the grid follows",
    ),
    Equivalent(
        "solution:matmul",
        "steps = max(triton.cdiv(tiles_n, max(programs // max(tiles_m, 1), 1)), 1)",
        "steps = max(tiles_n // max(programs // max(tiles_m, 1), 1), 1)",
        "slower alone: how many tiles a program makes; the grid follows",
    ),
]
