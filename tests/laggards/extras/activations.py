"""Extra: right answers that move more bytes than they must, or start a program for a handful of them."""

from __future__ import annotations

from tools.planted import Laggard

laggards = [
    # Forward 2 in, 4 out, 4 in, 2 out: 12 bytes an element of bf16 where 4 would do; backward 14 and not 6.
    Laggard("the sigmoid and the slope are stored, then multiplied", file="composed.py"),
    Laggard(
        "blocks of 32, a warp each",
        swap={
            "triton.cdiv(n, 4096)": "triton.cdiv(n, 32)",
            "BLOCK=4096, num_warps=4": "BLOCK=32, num_warps=1",
            "triton.cdiv(n, 2048)": "triton.cdiv(n, 32)",
            "BLOCK=2048,\n            num_warps=4": "BLOCK=32,\n            num_warps=1",
        },
    ),
]
