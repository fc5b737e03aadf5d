"""Extra: right answers that are compiled once, and have the wrong size for nearly every row."""

from tools.planted import Laggard

laggards = [
    # A row of 1000 has 16384 lanes, of which 15384 stand idle: 16 times the instructions.
    Laggard("one bucket for all", swap={"max(triton.next_power_of_2(n_cols), 128)": "16384"}),
    # A warp a row, with 256 bytes on their way. A row of 1000 is walked three times, in 16 turns each.
    Laggard("one small block, in loops", file="blocks_of_64.py"),
]
