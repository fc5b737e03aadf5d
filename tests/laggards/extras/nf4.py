"""Extra: right bytes and right numbers that go through memory in between, or by the block."""

from __future__ import annotations

from grader.dev.planted import Laggard

GRID = "    grid = (triton.cdiv(n, ELEMENTS),)\n"

laggards = [
    # 10.5 bytes an element for 2.5: levels of 4 bytes are written, and read again to be scaled.
    Laggard("levels go through memory in fp32", file="levels_in_memory.py"),
    # 4.2 million programs, which move 160 bytes each.
    Laggard(
        "one block of 64 a program, by one warp",
        swap={
            "ELEMENTS = 4096": "ELEMENTS = 64",
            "ROWS=ELEMENTS // block, num_warps=4)\n    return": "ROWS=1, num_warps=1)\n    return",
            "ROWS=ELEMENTS // block, num_warps=4\n    )": "ROWS=1, num_warps=1\n    )",
            f"range(15))\n{GRID}": "range(15))\n    grid = (triton.cdiv(n, block),)\n",
            f"device=packed.device)\n{GRID}": "device=packed.device)\n    grid = (triton.cdiv(n, block),)\n",
        },
    ),
    # 20.5 bytes an element for 2.5.
    Laggard("ratios, codes and halves of bytes go through memory", file="codes_in_memory.py"),
]
