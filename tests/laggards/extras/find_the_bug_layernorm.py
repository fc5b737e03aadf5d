"""Extra find_the_bug_layernorm: mended in a way that leaves most of the GPU idle."""

from tools.planted import Laggard

laggards = [
    # The race, mended by having no more programs than places: 16 of 132 SMs work.
    Laggard("as many programs as rows of partial sums", swap={"4 * sms": "SLOTS"}),
    # 128 elements a lane of x, dy, weight and dweight each: more than a thread's 255 registers.
    Laggard("one warp for 4096 columns", swap={"num_warps=num_warps,\n    )": "num_warps=1,\n    )"}),
]
