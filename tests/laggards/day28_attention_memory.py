"""Day 28: right answers that keep the matrix units idle, or waiting for registers."""

from tools.planted import Laggard

CAST = ".to(tl.float32)"
Q = "mask=rows[:, None] & dims[None, :], other=0.0)"
K = "& cols[None, :], other=0.0)"
V = "mask=(offs_n < left)[:, None] & dims[None, :], other=0.0)"
NO_UNITS = {x: x + CAST for x in (Q, K, V)}

laggards = [
    # 206 G operations, all of them plain fp32 instructions: a tenth of what the matrix units do.
    Laggard(
        "fp16 is converted to fp32 before the dots",
        swap={**NO_UNITS, "(128, 64, 8) if matrix_units else": "(32, 64, 8) if matrix_units else"},
    ),
    # Sums and scores are 768 fp32 numbers a lane where 255 registers are: most of them live in memory.
    Laggard("one warp for 128 queries", swap={"num_warps=num_warps": "num_warps=1"}),
]
