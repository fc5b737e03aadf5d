"""Extra: right answers that read the weights one row at a time, or once a row of x."""

from tools.planted import Laggard

LAUNCH = """    int4_gemv_kernel[(triton.cdiv(n, 64),)](
        x,
        packed,
        scales,
        zeros,
        y,
        m,"""

laggards = [
    # 16384 programs of one warp, which wait for 512 bytes at a time.
    Laggard("one row of weights a program, one warp", file="one_row.py"),
    Laggard(
        "a pass over the weights for each row of x",
        swap={
            LAUNCH: "    for row in range(m):\n     "
            + LAUNCH.strip()
            .replace("        x,", "        x[row],")
            .replace("        y,\n        m,", "        y[row],\n        1,")
        },
    ),
]
