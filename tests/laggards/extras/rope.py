"""Extra: right answers that start a program for every handful of bytes."""

from tools.planted import Laggard

laggards = [
    # 64 pairs a program, a warp that waits for its position and then for the tables, for 256 bytes of q.
    Laggard(
        "one program a token and head",
        swap={"BLOCK_H = min(triton.next_power_of_2(n_heads), max(2048 // BLOCK_P, 1))": "BLOCK_H = 1"},
    )
]
