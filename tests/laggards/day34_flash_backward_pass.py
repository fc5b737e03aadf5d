"""Day 34: right gradients that are computed for nothing, or in fp32."""

from tools.planted import Laggard

BLOCKS = "tall, narrow = 64, 32"
LOADED = "mask=(offs_m < n_rows - start)[:, None] & (offs_d < D)[None, :], other=0.0)"

laggards = [
    # Half of the scores are computed for nothing, and blocks of 32 read what passes by 128 times.
    Laggard(
        "no causal block is skipped, 32 rows a program",
        swap={
            BLOCKS: "tall, narrow = 32, 32",
            "first = tl.maximum(start_n + Sq - Sk, 0)": "first = 0",
            "range(0, tl.max(visible, axis=0), BLOCK_N)": "range(0, Sk, BLOCK_N)",
        },
    ),
    # No matrix unit computes IEEE fp32: 60 TFLOP/s at best where fp16 has 900.
    Laggard(
        "all is made fp32 before the products",
        swap={BLOCKS: "tall, narrow = 32, 16", LOADED: f"{LOADED}.to(tl.float32)"},
    ),
]
