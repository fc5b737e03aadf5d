"""Day 06: right sums by tiles of the wrong shape, or by too few programs."""

from tools.planted import Laggard

laggards = [
    # (Eight columns without a GPU.)
    # A lane's 4 bytes lie alone in a 32-byte sector, in a, in b and in out.
    Laggard(
        "tiles one column wide",
        swap={"BLOCK_M, BLOCK_N = 16, 128": "BLOCK_M, BLOCK_N = 1024, 1 if a.is_cuda else 8"},
    ),
    # At most one program an SM, with 8 KB on the way at a time and nobody to take turns with.
    Laggard("one program a matrix, which walks its tiles", file="one_program_a_matrix.py"),
]
