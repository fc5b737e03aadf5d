"""Day 23: right answers whose sums wait for one program, or that ask for too few bytes at once."""

from __future__ import annotations

from tools.planted import Laggard

laggards = [
    # One SM of 132 walks along all 16384 rows.
    Laggard(
        "one program walks along all rows of the backward pass",
        swap={"programs = sms * (16 // num_warps)": "programs = 1", "programs = 2": "programs = 1"},
    ),
    # dx is fast, but then dy and s are read again, by one program.
    Laggard("dweight and dbias are summed by one program", file="one_program.py"),
    # 128 bytes of x and of residual on their way for each warp, and s is read twice again.
    Laggard("the forward pass walks along each row in steps of 64 columns", file="narrow.py"),
]
