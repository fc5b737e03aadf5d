"""Day 20: right answers from too few programs, or from more partial sums than there is input."""

from tools.planted import Laggard

laggards = [
    # 4 tiles, so 4 of 132 SMs work, each through all of K.
    Laggard("no split", swap={"    return split_k": "    return 1"}),
    # 32 of K a split at 256x256x32768: 1024 partial sums, 268 MB written and read for 34 MB of input.
    Laggard(
        "every block its own split",
        swap={
            "2 * split_k * tiles <= PROGRAMS and 2 * split_k * 4 <= blocks_k": "split_k < blocks_k <= 2**20",
            "BLOCK_K = 128 // a.element_size()": "BLOCK_K = 64 // a.element_size()",
        },
    ),
]
