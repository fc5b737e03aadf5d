"""Day 32: right answers that compute more than they need, or read it more often."""

from __future__ import annotations

from grader.dev.planted import Laggard

NO_DESCRIPTORS = {"descriptors = suits_descriptors(q, k, v)": "descriptors = False"}
TILE = "(128, 64, 4, 3, None) if d <= 64 else (128, 64, 8, 2, None)"

laggards = [
    # Day 31's kernel for lse, then the products again: 3 units of work where 2 do, and blocks of 16 queries
    # read every key and value 256 times: 13 GB from L2 for the timed case, 2 ms at the 6 TB/s it gives.
    Laggard("two passes over the keys, 16 queries a program", file="two_pass.py"),
    # Half of the scores are computed for nothing, and blocks of 32 queries read 17 GB from L2.
    Laggard(
        "no causal block is skipped, 32 queries a program",
        swap={
            **NO_DESCRIPTORS,
            TILE: "(32, 32, 4, 2, None)",
            "edge = tl.maximum(tl.min(visible, axis=0), 0) // BLOCK_N * BLOCK_N": "edge = 0",
            "end = tl.max(visible, axis=0)": "end = Sk",
        },
    ),
    # No matrix unit computes IEEE fp32: 60 TFLOP/s at best where fp16 has 900.
    Laggard(
        "q, k and v are made fp32 before the products",
        swap={
            **NO_DESCRIPTORS,
            TILE: "(64, 16, 8, 2, None)",
            "mask=(offs_s < n_rows - start)[:, None] & (offs_d < D)[None, :], other=0.0)": (
                "mask=(offs_s < n_rows - start)[:, None] & (offs_d < D)[None, :], other=0.0).to(tl.float32)"
            ),
        },
    ),
]
