"""Extra: right FP8 products whose matrix units wait: for memory, for additions, or for what is read again."""

from __future__ import annotations

from tools.planted import Laggard

UNSEEN = "its values need a GPU, and so does its time"

laggards = [
    # Nothing is loaded while matrix units work: a microsecond for 40 KB, then half of one for their products.
    Laggard("one stage", swap={"STAGES = 4": "STAGES = 1"}, unseen=UNSEEN),
    # 192 cycles of additions for 192 of products, and as much again for what barriers cost in each step.
    Laggard(
        "sums of 32 products",
        swap={"BLOCK_N, BLOCK_K = 128, 128": "BLOCK_N, BLOCK_K = 128, 32"},
        unseen=UNSEEN,
    ),
    # A quarter of the products for what is more than half of the bytes: 19 GB from L2.
    Laggard(
        "tiles of 192 x 32",
        swap={"BLOCK_N, BLOCK_K = 128, 128": "BLOCK_N, BLOCK_K = 32, 128"},
        unseen=UNSEEN,
    ),
]
