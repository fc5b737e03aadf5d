"""Day 21: right answers whose tiles are too small to feed the matrix units."""

from tools.planted import Laggard

HEIGHT = "min(max(triton.next_power_of_2(average), 16), 128 if half else 64)"

laggards = [
    # (Without a GPU they are larger.)
    # A 16 x 16 tile reads 4 bytes for every 32 operations it makes of them: L2 is the limit.
    Laggard(
        "tiles 16 wide",
        swap={
            "if average >= 128 and suits_descriptors(x, w):": "if False:",
            HEIGHT: "16 if x.is_cuda else 32",
            "BLOCK_N = 128 if half else 64": "BLOCK_N = 16 if x.is_cuda else 64",
            "BLOCK_K = 128 // x.element_size()": "BLOCK_K = 16 if x.is_cuda else 64",
        },
    ),
    # A token a program: each reads its expert's whole weights, and no matrix unit is used.
    Laggard("token by token", file="token_by_token.py"),
]
