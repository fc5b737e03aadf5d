"""Extra: right answers that add along the channels, or start a program for a handful of pixels."""

from tools.planted import Laggard

laggards = [
    # The sum along an axis of four lanes goes through shared memory, for each pixel.
    Laggard("a sum along the channels", file="sum_along_channels.py"),
    # 2.1 million programs, each of four warps, of which three have no pixel.
    Laggard("32 pixels a program", swap={"BLOCK = 1024": "BLOCK = 32"}),
]
