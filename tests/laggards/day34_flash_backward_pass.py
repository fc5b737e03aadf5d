"""Day 34: right gradients that are computed twice, added in memory, or not by the matrix units."""

from __future__ import annotations

from grader.dev.planted import Laggard

NO_DESCRIPTORS = {"descriptors = suits_descriptors(q, k, v, do)": "descriptors = False"}
TILES = "(32, 64, 4, 2, None), (64, 32, 4, 2, None)"
LOADED = "mask=(offs_s < n_rows - start)[:, None] & (offs_d < D)[None, :], other=0.0)"

laggards = [
    # 5 products instead of 7, but each program of 16 keys adds its part of dq in memory: 17 GB of fp32
    # atomics for the timed case, where dq is 67 MB. Added in fp16 they would be half of that, and wrong.
    Laggard("one loop, dq by fp32 atomics, 16 keys a program", file="atomics.py"),
    # Half of the scores are computed for nothing, and blocks of 32 read what passes by 128 times.
    Laggard(
        "no causal block is skipped, 32 rows a program",
        swap={
            **NO_DESCRIPTORS,
            TILES: "(32, 32, 4, 2, None), (32, 32, 4, 2, None)",
            "first = tl.maximum(start_n + Sq - Sk, 0)": "first = 0",
            "whole = first + tl.cdiv(last - first, BLOCK_M) * BLOCK_M": "whole = Sq",
            "edge = tl.maximum(tl.min(visible, axis=0), 0) // BLOCK_N * BLOCK_N": "edge = 0",
            "end = tl.max(visible, axis=0)": "end = Sk",
        },
    ),
    # No matrix unit computes IEEE fp32: 60 TFLOP/s at best where fp16 has 900.
    Laggard(
        "all is made fp32 before the products",
        swap={
            **NO_DESCRIPTORS,
            TILES: "(16, 32, 8, 1, None), (32, 16, 8, 1, None)",
            LOADED: f"{LOADED}.to(tl.float32)",
        },
    ),
]
