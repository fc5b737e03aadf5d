"""Day 32: right answers that compute more than they need, or in fp32."""

from tools.planted import Laggard

BLOCKS = "BLOCK_M, BLOCK_N = 128, 64"
LOADED = "mask=(offs_m < n_rows - start)[:, None] & (offs_d < D)[None, :], other=0.0)"

laggards = [
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
