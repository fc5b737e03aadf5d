"""Day 24: right masks, drawn with too few bytes in flight."""

from tools.planted import Laggard

laggards = [
    # A lane of a warp carries one element: 4 million programs, each with 128 bytes to wait for. A small x
    # keeps its blocks.
    Laggard(
        "blocks of 32, one warp each",
        swap={
            "    BLOCK = 1024": "    BLOCK = 1024 if n < 2**20 else 32",
            "BLOCK=BLOCK": "BLOCK=BLOCK, num_warps=1",
        },
    ),
    # 132 times 4 KB are on their way where a copy keeps megabytes.
    Laggard("one program an SM walks along x", file="one_program_an_sm.py"),
]
