"""Day 16: right products that never reach the matrix units."""

from __future__ import annotations

from tests.planted import Laggard

laggards = [
    # 17 G products, each an instruction of its own in one of 32 lanes, and a reduction on top.
    Laggard("multiply, broadcast and sum, without tl.dot", file="broadcast.py"),
    # fp32 operands: 2048 FMAs a thread where 8 matrix instructions would do, and twice the shared memory.
    Laggard(
        "fp16 is converted to fp32 before the dot",
        swap={
            "tl.dot(a, b, ": "tl.dot(a.to(tl.float32), b.to(tl.float32), ",
            "(128, 128) if matrix_units else (64, 64)": "(64, 64)",
        },
    ),
]
