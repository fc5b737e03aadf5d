"""Extra: right answers that move more bytes than they must, or whose sums wait for one program."""

from __future__ import annotations

from tools.planted import Laggard

laggards = [
    # Three reads and two writes: 10 bytes an element of bf16 where 4 would do.
    Laggard("forward as three kernels, for rstd, x_hat and y", file="three_kernels.py", stores=True),
    # One SM of 132 walks along all 16384 rows.
    Laggard(
        "one program walks along all rows of the backward pass",
        swap={"programs = sms * max(16 // num_warps, 1)": "programs = 1", "programs = 2": "programs = 1"},
    ),
]
