"""Extra: right answers that load each tile too often, or leave the matrix units alone."""

from tools.planted import Laggard

FIRST = "= 128, 128, 64, 8, 3"
LOADED = "        gate = tl.dot("

laggards = [
    # 21 operations a byte from L2, a quarter of ours: 1.1 TFLOP ask it for 52 GB.
    Laggard("tiles of 32 x 32", swap={FIRST: "= 32, 32, 32, 4, 2"}),
    # fp32 takes no matrix units: 67 TFLOP/s at best, where fp16 has 990.
    Laggard(
        "the operands are made fp32 before the dots",
        swap={
            LOADED: "        x, w_gate, w_up = x.to(tl.float32), w_gate.to(tl.float32), w_up.to(tl.float32)\n"
            + LOADED,
            FIRST: "= 64, 32, 32, 4, 2",
        },
    ),
]
