"""Day 17: right products whose tiles are too small, or that never reach the matrix units."""

from tools.planted import Laggard

TILE = "(128, 256, 64) if large else (64, 64, 32)"

laggards = [
    # (Without a GPU they are larger.)
    # 16 operations for each element read where a tile of 128 x 256 has 171, and 8 warps for 256 sums.
    Laggard("tiles of 16 x 16 and frames of 16", swap={TILE: "(16, 16, 16) if a.is_cuda else (32, 32, 32)"}),
    # The same loop on plain units: 512 FMAs a thread and frame.
    Laggard(
        "fp16 is converted to fp32 before the dot",
        swap={TILE: "(64, 64, 32)", "tl.dot(a, b, ": "tl.dot(a.to(tl.float32), b.to(tl.float32), "},
    ),
]
