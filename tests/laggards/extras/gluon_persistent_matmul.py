"""Extra: right products whose matrix units wait: for memory, or for what small tiles read again."""

from tools.planted import Laggard

UNSEEN = "its values need a GPU, and so does its time"
ARRIVE = "            mbarrier.arrive(empty.index((turn + STAGES - 1) % STAGES), count=1, pred=step > 0)"
WAIT = "            acc = warpgroup_mma_wait(1, deps=(acc,))"
LAST = "        mbarrier.arrive(empty.index((turn + STAGES - 1) % STAGES), count=1)\n        #"

laggards = [
    # Nothing is loaded while matrix units work: a microsecond for 48 KB, then half of one for their product.
    Laggard(
        "one stage, and each product is waited for",
        swap={
            "STAGES = 3": "STAGES = 1",
            WAIT: WAIT.replace("wait(1", "wait(0"),
            ARRIVE: "            mbarrier.arrive(empty.index(stage), count=1)",
            LAST: "        #",
        },
        unseen=UNSEEN,
    ),
    # 16 KB a step for an eighth of the work: 34 GB from L2, and one warp group multiplies where two could.
    Laggard(
        "tiles of 64 x 64",
        swap={
            "BLOCK_M, BLOCK_N, BLOCK_K = 128, 256, 64": "BLOCK_M, BLOCK_N, BLOCK_K = 64, 64, 64",
            "WARPS = 8": "WARPS = 4",
        },
        unseen=UNSEEN,
    ),
]
