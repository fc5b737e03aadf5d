"""Extra: right FP8 products that leave half of the units' rate, or most of it."""

from tools.planted import Laggard

laggards = [
    Laggard(
        "converted to bf16 before the dot",
        swap={
            "tl.dot(a, b, acc, max_num_imprecise_acc=a.shape[1])": (
                "tl.dot(a.to(tl.bfloat16), b.to(tl.bfloat16), acc)"
            )
        },
    ),
    # A tile of 32 x 32 loads 64 bytes for each step of k, and multiplies 1024 times: a quarter of ours.
    Laggard(
        "tiles of 32 x 32",
        swap={
            "BLOCK_M = min(max(triton.next_power_of_2(m), 16), 128)": "BLOCK_M = 32",
            "BLOCK_N = min(max(triton.next_power_of_2(n), 32), 128)": "BLOCK_N = 32",
        },
    ),
]
