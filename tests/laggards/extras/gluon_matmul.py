"""Extra: right products that wait for what could have come before, or read too much for each operation."""

from tools.planted import Laggard

AHEAD = """    for i in gl.static_range(STAGES - 1):
        fetch(a_desc, b_desc, a_smem, b_smem, full, i, m, n, steps, STAGES)
"""
BLOCKS = "BLOCK_M, BLOCK_N, BLOCK_K, STAGES = 128, 256, 64, 4"
FETCH = "        fetch(a_desc, b_desc, a_smem, b_smem, full, step + STAGES - 1, m, n, steps, STAGES)\n"
UNSEEN = "its values need a GPU, and so does its time"
WAIT = "        mbarrier.wait(full.index(stage)"

laggards = [
    # 0.58 µs of arithmetic a turn; 48 KB take as long to come, and here nothing else is done meanwhile.
    Laggard(
        "one stage: a frame is asked for when it is needed",
        swap={
            BLOCKS: BLOCKS.replace("64, 4", "64, 1"),
            AHEAD: "",
            WAIT: FETCH.replace("step + STAGES - 1", "step") + WAIT,
            "_wait(1, deps": "_wait(0, deps",
            FETCH: "",
        },
        unseen=UNSEEN,
    ),
    # 32 operations for each byte from L2, not 85: 34 GB, more than 5 ms.
    Laggard(
        "tiles of 64 x 64",
        swap={BLOCKS: BLOCKS.replace("128, 256", "64, 64"), "num_warps=8": "num_warps=4"},
        unseen=UNSEEN,
    ),
]
