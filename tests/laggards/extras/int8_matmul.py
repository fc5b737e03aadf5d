"""Extra: right products of int8 that go through floats."""

from tools.planted import Laggard

DOT = "acc = tl.dot(a, b, acc, out_dtype=tl.int32)"

laggards = [
    # fp32 with all its bits never reaches the matrix units; the sums of a step are below 2**24, so exact.
    Laggard(
        "converted to fp32",
        swap={
            DOT: 'sums = tl.dot(a.to(tl.float32), b.to(tl.float32), input_precision="ieee")\n'
            "        acc += sums.to(tl.int32)",
            # What an int8 tile has for operands would be 288 KB of fp32.
            "BLOCK_M = min(max(triton.next_power_of_2(m), 16), 128)": "BLOCK_M = 64",
            "BLOCK_N = min(max(triton.next_power_of_2(n), 16), 128)": "BLOCK_N = 64",
            "BLOCK_K=128": "BLOCK_K=32",
        },
    ),
    # A sum in floats beside that in integers: together they do not fit into the registers, either.
    Laggard(
        "converted to fp16", swap={DOT: "acc += tl.dot(a.to(tl.float16), b.to(tl.float16)).to(tl.int32)"}
    ),
]
