"""Extra find_the_bug_flash: mended in a way that computes more than it needs, or on slower units."""

from tools.planted import Laggard

laggards = [
    # Half of the scores are computed for nothing, and blocks of 32 queries read 17 GB from L2.
    Laggard(
        "no causal block is skipped, 32 queries a program",
        swap={"BLOCK_M, BLOCK_N = 64, 64": "BLOCK_M, BLOCK_N = 32, 32", "start_m + BLOCK_M + Sk - Sq": "Sk"},
    ),
    # No matrix unit computes IEEE fp32: 60 TFLOP/s at best where fp16 has 900.
    Laggard(
        "q, k and v are made fp32 before the products",
        swap={
            "BLOCK_M, BLOCK_N = 64, 64": "BLOCK_M, BLOCK_N = 64, 16",
            "(offs_d < D)[None, :], other=0.0)": "(offs_d < D)[None, :], other=0.0).to(tl.float32)",
        },
    ),
]
