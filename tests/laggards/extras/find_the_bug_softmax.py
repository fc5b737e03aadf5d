"""Extra find_the_bug_softmax: mended in a way that keeps too few warps busy."""

from tools.planted import Laggard

laggards = [
    # 256 elements a lane at n = 8192: 255 registers, the rest spilled, 8 warps an SM.
    Laggard("one warp for 8192 columns", swap={"num_warps=num_warps": "num_warps=1"})
]
