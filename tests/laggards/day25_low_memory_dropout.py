"""Day 25: right masks in no memory at all, worked out too slowly."""

from tools.planted import Laggard

laggards = [
    # A lane of a warp carries one element: 4 million programs, each with 128 bytes to wait for. A small x
    # keeps its blocks.
    Laggard(
        "blocks of 32, one warp each",
        swap={
            "    BLOCK = 1024": "    BLOCK = 1024 if x.numel() < 2**20 else 32",
            "BLOCK=BLOCK": "BLOCK=BLOCK, num_warps=1",
        },
    ),
    # Some hundred instructions more for each element of a tensor that lies in one piece.
    Laggard("64-bit divisions for every element", file="coordinates.py"),
]
