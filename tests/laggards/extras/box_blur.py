"""Extra: right answers by programs that are too small to slide, or too few to fill a GPU."""

from tools.planted import Laggard

SIZES = "BLOCK_M, BLOCK_N = 32, 1024"

laggards = [
    # 12.6 million programs for 4096 * 4096 pixels, 4 bytes each; none slides: 91 loads a byte, not 15.
    Laggard("a program for four bytes", swap={SIZES: "BLOCK_M, BLOCK_N = 1, 4"}),
    # 12 programs: 120 of 132 SMs stand still.
    Laggard("a program slides from the top to the bottom", swap={SIZES: "BLOCK_M, BLOCK_N = height, 1024"}),
]
