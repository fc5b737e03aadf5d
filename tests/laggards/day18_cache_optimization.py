"""Day 18: right answers whose programs share too little of what they read at the same time."""

from tools.planted import Laggard

BIG = "return 128, 256, 64, 8"
TILE = "grouped_tile(tl.program_id(0), tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), GROUP_M)"
ROW_MAJOR = "tl.program_id(0) // tl.cdiv(n, BLOCK_N), tl.program_id(0) % tl.cdiv(n, BLOCK_N)"

laggards = [
    # The wide problem: all 537 MB of b for each of 32 rows of tiles, 17 GB: 4.1 ms of HBM.
    Laggard("tiles of 64 x 64 in row-major order", swap={TILE: ROW_MAJOR, BIG: "return 64, 64, 64, 4"}),
    # 64 rows of tiles, so 34 GB of b; what waves share of it still leaves 22 GB, 5.3 ms.
    Laggard(
        "flat tiles of 32 x 256 in row-major order", swap={TILE: ROW_MAJOR, BIG: "return 32, 256, 64, 4"}
    ),
]
