"""Extra: right sums and products that move half as much again, or keep memory idle."""

from tools.planted import Laggard

laggards = [
    # 24 bytes an element, not 16: two thirds of a copy's rate at best.
    Laggard("the sum is stored, and read again by a second kernel", file="two_kernels.py"),
    # One 4-byte load a lane of each input, from programs of one warp: too few bytes in flight.
    Laggard("blocks of 32, one warp each", swap={"1024)": "32)", "num_warps=4": "num_warps=1"}),
]
