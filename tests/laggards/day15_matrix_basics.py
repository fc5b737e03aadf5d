"""Day 15: right answers that read a row-major matrix down its columns, or with too few programs."""

from tools.planted import Laggard

TILE = "BLOCK_M, BLOCK_N = (2, 2048) if a.stride(1) <= a.stride(0) else (32, 256)"

laggards = [
    # A warp's 32 elements lie in 32 sectors, of which it uses 4 bytes each; and 32 programs share 132 SMs.
    Laggard("a column at a time", file="columns.py"),
    # Whole sectors, but 128 programs, each with only 8 KB of the matrix on its way at a time.
    Laggard("short pieces of 64 rows", swap={TILE: "BLOCK_M, BLOCK_N = 64, 32"}),
]
