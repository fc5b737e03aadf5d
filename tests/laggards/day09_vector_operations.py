"""Day 09: right answers that move twice the bytes, or compute more than the memory leaves time for."""

from tools.planted import Laggard

laggards = [
    # x + bias is written and read again: four passes over the matrix where two would do.
    Laggard("two kernels, one for the bias and one for the GELU", file="unfused.py"),
    # exp2 in fp64 is a polynomial: 75 instructions an element, most at half of the rate of fp32 or far less.
    Laggard(
        "the maths is done in fp64", swap={"bias.to(tl.float32)[None, :]": "bias.to(tl.float64)[None, :]"}
    ),
]
