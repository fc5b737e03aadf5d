"""Day 13: right answers that move four times the bytes, or keep too few warps busy."""

from tools.planted import Laggard

laggards = [
    # Five reads and three writes of the matrix where one of each would do.
    Laggard("five kernels, each a pass over the matrix", file="unfused.py"),
    # 256 elements a lane at n = 8192: 255 registers, the rest spilled, 8 warps an SM.
    Laggard("one warp for 8192 columns", swap={"num_warps=num_warps": "num_warps=1"}),
]
