"""Extra: right answers that move q and k twice, or start a program for every handful of bytes."""

from __future__ import annotations

from tools.planted import Laggard

laggards = [
    # The halves changed over are written and read again: 4 passes where 2 would do.
    Laggard("the exchanged halves are stored, then multiplied and added", file="rotate_half.py", stores=True),
    # 64 pairs a program, a warp that waits for its position and then for the tables, for 256 bytes of q.
    Laggard(
        "one program a token and head",
        swap={"BLOCK_H = min(triton.next_power_of_2(n_heads), max(2048 // BLOCK_P, 1))": "BLOCK_H = 1"},
    ),
]
