"""Day 23: right answers whose sums wait for one program."""

from tools.planted import Laggard

laggards = [
    # One SM of 132 walks along all 16384 rows.
    Laggard(
        "one program walks along all rows of the backward pass",
        swap={"programs = sms * (16 // num_warps)": "programs = 1", "programs = 2": "programs = 1"},
    ),
    # dx is fast, but then dy and s are read again, by one program.
    Laggard("dweight and dbias are summed by one program", file="one_program.py"),
]
