"""Day 22: right answers that move twice the bytes, or have too few of them on their way."""

from tools.planted import Laggard

laggards = [
    # Three reads and a write: 8 bytes an element of bf16 where 4 would do.
    Laggard("three kernels, for mean, variance and result", file="three_kernels.py"),
    # 32 programs an SM, one warp each, 4 bytes a lane: 4 KB in flight where HBM needs six times as many.
    Laggard("blocks of 64 columns, one warp a row", file="narrow_blocks.py"),
]
