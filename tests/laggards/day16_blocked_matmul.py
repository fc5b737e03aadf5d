"""Day 16: right products that never reach the matrix units."""

from tools.planted import Laggard

laggards = [
    # 8.6 G products, each an instruction of its own in one of 32 lanes. (A broadcast product summed over its
    # middle is no laggard: Triton 3.6 recognises it, and makes a TF32 dot of it on a GPU.)
    Laggard("outer products one by one, without tl.dot", file="broadcast.py"),
    # fp32 operands: 2048 FMAs a thread where 8 matrix instructions would do, and twice the shared memory.
    Laggard(
        "fp16 is converted to fp32 before the dot",
        swap={
            "tl.dot(a, b, ": "tl.dot(a.to(tl.float32), b.to(tl.float32), ",
            "(128, 64) if matrix_units else (64, 64)": "(64, 64)",
        },
    ),
]
