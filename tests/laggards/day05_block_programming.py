"""Day 05: right sums in tiles of the wrong shape; without a GPU they are larger."""

from tools.planted import Laggard

TILE = "BLOCK_M, BLOCK_N = 32, 128"

laggards = [
    # Each 4-byte store of a lane is alone in its 32-byte sector: eight times the traffic, none of it wide.
    Laggard("tiles one column wide", swap={TILE: "BLOCK_M, BLOCK_N = 1024, 1 if x.is_cuda else 8"}),
    # Two million programs, each with a single 8-byte store a thread: the GPU spends its time starting them.
    Laggard(
        "tiles of 64 elements, one warp each",
        swap={
            TILE: "BLOCK_M, BLOCK_N = (2, 32) if x.is_cuda else (8, 64)",
            "BLOCK_N=BLOCK_N)": "BLOCK_N=BLOCK_N, num_warps=1)",
        },
    ),
]
