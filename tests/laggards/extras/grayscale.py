"""Extra: right answers that store three planes in between, or start a program for a handful of pixels."""

from __future__ import annotations

from tools.planted import Laggard

laggards = [
    # 3 bytes a pixel in, 12 out, 12 in and 1 out: 28 where 4 would do.
    Laggard("the channels are stored as planes of fp32, and added then", file="planes.py"),
    # The sum along an axis of four lanes goes through shared memory, for each pixel.
    Laggard(
        "a sum along the channels",
        file="sum_along_channels.py",
    ),
    # 2.1 million programs, each of four warps, of which three have no pixel.
    Laggard("32 pixels a program", swap={"BLOCK = 1024": "BLOCK = 32"}),
]
