"""Extra: right answers whose programs read every so-many-th element, or a handful of them."""

from tools.planted import Laggard

laggards = [
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
