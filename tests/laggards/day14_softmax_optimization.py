"""Day 14: right answers that move the matrix five times, or do the work over and over."""

from tools.planted import Laggard

laggards = [
    # 3 reads and 2 writes of the matrix: maxima, exponentials and sums, quotients.
    Laggard("three passes, each a kernel", file="three_passes.py"),
    # One warp an SM cannot keep HBM busy.
    Laggard(
        "one warp a row, one row an SM",
        swap={
            "num_warps=num_warps": "num_warps=1",
            "min(max(triton.next_power_of_2(n_cols), 4), 16384)": "1024",
            "sms * (32 // num_warps)": "sms",
        },
    ),
]
