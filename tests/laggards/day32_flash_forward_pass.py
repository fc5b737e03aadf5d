"""Day 32: right answers that compute more than they need, or read it more often."""

from __future__ import annotations

from tools.planted import Laggard

BLOCKS = "BLOCK_M, BLOCK_N = 128, 64"
LOADED = "mask=(offs_m < n_rows - start)[:, None] & (offs_d < D)[None, :], other=0.0)"

laggards = [
    # Day 31's kernel for lse, then the products again: 3 units of work where 2 do, and blocks of 16 queries
    # read every key and value 256 times: 13 GB from L2 for the timed case, 2 ms at the 6 TB/s it gives.
    Laggard("two passes over the keys, 16 queries a program", file="two_pass.py"),
    # Half of the scores are computed for nothing, and blocks of 32 queries read 17 GB from L2.
    Laggard(
        "no causal block is skipped, 32 queries a program",
        swap={BLOCKS: "BLOCK_M, BLOCK_N = 32, 32", "tl.max(visible, axis=0), BLOCK_N": "Sk, BLOCK_N"},
    ),
    # No matrix unit computes IEEE fp32: 60 TFLOP/s at best where fp16 has 900.
    Laggard(
        "q, k and v are made fp32 before the products",
        swap={BLOCKS: "BLOCK_M, BLOCK_N = 64, 16", LOADED: f"{LOADED}.to(tl.float32)"},
    ),
]
