"""Day 07: right transposes that use 4 bytes of each 32-byte sector, on one side or the other."""

from tools.planted import Laggard

TILE = "BLOCK_M, BLOCK_N = 64, 64"

laggards = [
    # (Eight rows or columns without a GPU.)
    # A warp reads 512 bytes in 16 sectors, and writes them to 128 sectors in 128 rows of y.
    Laggard(
        "a piece of a row in, a piece of a column out",
        swap={TILE: "BLOCK_M, BLOCK_N = 1 if x.is_cuda else 8, 1024"},
    ),
    # The other way round: whole sectors out, but an eighth of each sector in.
    Laggard(
        "a piece of a column in, a piece of a row out",
        swap={TILE: "BLOCK_M, BLOCK_N = 1024, 1 if x.is_cuda else 8"},
    ),
]
