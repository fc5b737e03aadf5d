"""Extra find_the_bug_softmax: mended in a way that moves more bytes, or keeps too few warps busy."""

from __future__ import annotations

from tools.planted import Laggard

laggards = [
    # The fourth bug, mended by parking in y: two reads and two writes where one of each would do.
    Laggard("exponentials wait in y for a second kernel", file="parked_in_y.py"),
    # 256 elements a lane at n = 8192: 255 registers, the rest spilled, 8 warps an SM.
    Laggard("one warp for 8192 columns", swap={"num_warps=num_warps": "num_warps=1"}),
]
