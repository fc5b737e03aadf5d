"""Day 11: right answers that read the matrix three times, or start a program for every 64 bytes."""

from tools.planted import Laggard

laggards = [
    # The matrix is read once for each of the three results.
    Laggard("three kernels, one for each result", file="three_kernels.py"),
    # 2**22 programs on rows of 16: 112 of 128 threads hold nothing, and starting them is most of the time.
    Laggard(
        "one row a program, however short",
        swap={"max(4096 // BLOCK_N, 1)": "1", "BLOCK_M * BLOCK_N // 512": "max(BLOCK_N // 512, 4)"},
    ),
]
