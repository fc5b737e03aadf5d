"""Extra: right answers that send intermediate results through memory, or leave most of an SM idle."""

from __future__ import annotations

from tools.planted import Laggard

laggards = [
    # Both states, the denominator, the update and the step by a kernel each: 56 bytes an element, not 28.
    Laggard("five kernels, the denominator and the update stored", file="five_kernels.py"),
    # Neighbouring lanes lie num_programs apart: whole sectors for one element each.
    Laggard(
        "each program takes every num_programs-th element",
        swap={
            "tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)": "tl.program_id(0).to(tl.int64) + "
            "tl.arange(0, BLOCK) * tl.num_programs(0).to(tl.int64)"
        },
    ),
    # An SM holds 32 programs, of one warp and 32 elements each.
    Laggard(
        "blocks of 32 elements",
        swap={"BLOCK = 1024": "BLOCK = 32", "num_warps=4": "num_warps=1"},
        unseen="the bytes are the same, and how many have to be on their way only a GPU tells",
    ),
]
