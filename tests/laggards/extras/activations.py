"""Extra: right answers that start a program for a handful of bytes."""

from tools.planted import Laggard

laggards = [
    Laggard(
        "blocks of 32, a warp each",
        swap={
            "triton.cdiv(n, 4096)": "triton.cdiv(n, 32)",
            "BLOCK=4096, num_warps=4": "BLOCK=32, num_warps=1",
            "triton.cdiv(n, 2048)": "triton.cdiv(n, 32)",
            "BLOCK=2048,\n            num_warps=4": "BLOCK=32,\n            num_warps=1",
        },
    )
]
