"""Day 35: right answers that compute more than they need, or without the matrix units."""

from __future__ import annotations

from grader.dev.planted import Laggard

NO_DESCRIPTORS = {"descriptors = suits_descriptors(*sources)": "descriptors = False"}
FIRST = "first = tl.maximum(start_n + Sq - Sk, 0)"
WHOLE = "whole = first + tl.cdiv(tl.maximum(start_n + BLOCK_N - 1 + Sq - Sk, 0) - first, BLOCK_M) * BLOCK_M"
POINTERS = "tiles = (128, 64, 8, 2, None), (64, 32, 4, 2, None), (32, 64, 4, 2, None)"

laggards = [
    # Half of the scores are computed for nothing, and tiles of 32 × 32 read as many bytes from L2 as they
    # compute products: of 4096 rows each is read 128 times.
    Laggard(
        "no causal block is skipped, and tiles are small",
        swap={
            **NO_DESCRIPTORS,
            POINTERS: "tiles = (32, 32, 4, 2, None), (32, 32, 4, 2, None), (32, 32, 4, 2, None)",
            "tl.maximum(tl.min(visible, axis=0), 0) // BLOCK_N * BLOCK_N, tl.max(visible, axis=0)": "0, Sk",
            FIRST: "first = 0",
            WHOLE: "whole = tl.cdiv(Sq, BLOCK_M) * BLOCK_M",
        },
    ),
    # No matrix unit computes IEEE fp32: 60 TFLOP/s at best where fp16 has 900.
    Laggard(
        "everything is made fp32 before its product",
        swap={
            **NO_DESCRIPTORS,
            POINTERS: "tiles = (64, 16, 8, 2, None), (32, 16, 8, 1, None), (16, 32, 8, 1, None)",
            "mask=(offs_s < n_rows - start)[:, None] & (offs_d < D)[None, :], other=0.0)": (
                "mask=(offs_s < n_rows - start)[:, None] & (offs_d < D)[None, :], other=0.0).to(tl.float32)"
            ),
        },
    ),
]
