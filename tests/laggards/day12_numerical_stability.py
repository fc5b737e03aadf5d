"""Day 12: right answers that read the matrix twice from HBM, or with too few bytes on their way."""

from tools.planted import Laggard

laggards = [
    # By the time the second kernel starts, the first rows have long left L2: 2 reads where 1 would do.
    Laggard("two kernels, one for the maxima, one for the sums", file="two_kernels.py"),
    # (512 without a GPU.)
    # 32 programs an SM, one warp each, 8 bytes a lane: 8 KB in flight, a third of what HBM needs.
    Laggard(
        "blocks of 64 columns, one warp each",
        swap={
            "min(triton.next_power_of_2(n_cols), 8192)": "64 if x.is_cuda else 512",
            "min(max(BLOCK_N // 512, 1), 4)": "1",
        },
    ),
]
