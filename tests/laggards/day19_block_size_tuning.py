"""Day 19: right answers from numbers that were never measured."""

from tools.planted import Laggard

CONFIGS = "configs=CONFIGS"
# Every problem goes to the tuned kernel.
TUNED = {"    if m >= 128 and": "    if False and"}

laggards = [
    # 16 operations a byte from L2: 137 G of them ask it for 8.6 GB, four times what 128 x 256 tiles ask for.
    Laggard(
        "one small config for every problem",
        swap=TUNED | {CONFIGS: "configs=[config(32, 32, 32, num_warps=4, num_stages=2)]"},
    ),
    # 512 sums a thread, of 255 registers: 8437 spill instructions.
    Laggard(
        "one warp for a tile of 128 x 128",
        swap=TUNED | {CONFIGS: "configs=[config(128, 128, 64, num_warps=1, num_stages=3)]"},
    ),
]
