"""Day 08: right answers at a tenth to a half of the speed of memory."""

from tools.planted import Laggard

laggards = [
    # Half of the warps an SM can hold, each with one 4-byte load a lane: too few bytes in flight.
    Laggard(
        "blocks of 32, one warp each",
        swap={"    BLOCK = 1024": "    BLOCK = 32", "BLOCK=BLOCK": "BLOCK=BLOCK, num_warps=1"},
    ),
    # A million programs, of which a GPU starts 0.9 a clock: 0.64 ms, where the bytes take 0.38.
    Laggard("blocks of 128", swap={"    BLOCK = 1024": "    BLOCK = 128"}),
]
