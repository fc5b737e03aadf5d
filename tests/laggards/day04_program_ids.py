"""Day 04: right answers by programs that do not share the work."""

from tools.planted import Laggard

FIRST = "first = tl.program_id(0) * BLOCK"
STRIDE = "stride = tl.num_programs(0) * BLOCK"

laggards = [
    # One SM of 132 moves all 12n bytes; the other 2047 programs end at once.
    Laggard(
        "program 0 does all the work",
        swap={FIRST: "first = tl.where(tl.program_id(0) == 0, 0, n)", STRIDE: "stride = BLOCK"},
    ),
    # Block b is computed b + 1 times: each program goes on to the end, one block at a time.
    Laggard("every program walks all blocks to the end", swap={STRIDE: "stride = BLOCK"}),
]
