"""Extra: right answers that start a program for a single element, or for a single head."""

from tools.planted import Laggard

laggards = [
    # 16.8 million programs of one element, 2 bytes of a sector of 32. (Without a GPU they are tiles.)
    Laggard(
        "a program for each element",
        swap={
            "offs_d = tl.arange(0, BLOCK_D)": "offs_d = tl.program_id(2) * BLOCK_D + tl.arange(0, BLOCK_D)",
            "BLOCK_D = triton.next_power_of_2(width)": (
                "BLOCK_D = 1 if key.is_cuda else triton.next_power_of_2(width)"
            ),
            "min(triton.next_power_of_2(n_heads), max(2048 // BLOCK_D, 1))": "1",
            "triton.cdiv(n_heads, BLOCK_H))]": "triton.cdiv(n_heads, BLOCK_H), triton.cdiv(width, BLOCK_D))]",
        },
    ),
    # 131072 programs of 128 elements: two loads and two stores of 2 bytes a thread.
    Laggard(
        "a program for each head of each token",
        swap={"min(triton.next_power_of_2(n_heads), max(2048 // BLOCK_D, 1))": "1"},
    ),
]
