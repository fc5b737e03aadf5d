"""Extra: right sums of which too few bytes are on their way."""

from tools.planted import Laggard

SIZES = "BLOCK_M, BLOCK_N, STAGES = 64, 64, 4"
UNSEEN = "its values need a GPU, and so does its time"

laggards = [
    # 8 KB of a and b are on their way to an SM, and nothing while it adds: 248 turns of more than 1 µs each.
    Laggard(
        "one stage alone, 32 x 64: each load waits for the sums, and they for it",
        swap={SIZES: "BLOCK_M, BLOCK_N, STAGES = 32, 64, 1"},
        unseen=UNSEEN,
    ),
    # 512 bytes a tile: 1986 turns, each with its barriers, its waits and three requests.
    Laggard(
        "tiles of 4 x 64",
        swap={SIZES: "BLOCK_M, BLOCK_N, STAGES = 4, 64, 4", "swizzle_byte_width=128": "swizzle_byte_width=0"},
        unseen=UNSEEN,
    ),
]
