"""Extra: right codes that read x twice, or whose programs are too small to hide a trip to memory."""

from __future__ import annotations

from tools.planted import Laggard

laggards = [
    # 2 bytes an element for the scales, 2 and 1 for the codes: 5 where 3 would do.
    Laggard("scales and codes are two kernels", file="two_kernels.py"),
    # 524288 programs of 128 elements; a block of 4096 in 32 steps of one warp, and in 32 more for its codes.
    Laggard("a program per block, one warp, 128 elements at a time", file="block_per_program.py"),
]
