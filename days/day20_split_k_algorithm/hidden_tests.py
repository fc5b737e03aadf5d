"""Day 20: a @ b for small m and n and a huge k, shared out along k among the programs."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.matmul import flops, moved, operands


def inputs(case: Case, draw) -> tuple[torch.Tensor, torch.Tensor]:
    """a and b; `a_layout` … `b_values` make them unlike, `cancels` leaves the last 64 of k to decide.

    With `overflows`, sums leave fp16 on the way and come back.
    Where an output row is one long sum, its terms have one sign: a sum near 0 has no digits to compare.
    """
    a, b = operands(case, draw)
    if case.get("cancels"):
        half = (case.k - 64) // 2
        a[:, :half] *= 8
        a[:, half : 2 * half] = a[:, :half]
        b[half : 2 * half] = -b[:half]
    return a, b


challenge = Challenge(
    entry="matmul_split_k",
    inputs=inputs,
    reference=lambda a, b: a @ b,
    shown=Case(m=129, n=20, k=300),
    cases=[
        Case(m=16, n=16, k=512),
        Case(m=1, n=1, k=1),
        Case(m=160, n=96, k=288, dtype=HALF),
        Case(m=290, n=280, k=64, dtype=HALF),
        Case(m=144, n=48, k=304),
        Case(m=3, n=5, k=0),
        Case(m=0, n=5, k=300),
        Case(m=4, n=0, k=300),
        Case(m=1, n=1, k=1009, a_values="negative", b_values="negative"),
        Case(m=7, n=3, k=31),
        Case(m=7, n=3, k=32),
        Case(m=7, n=3, k=33),
        Case(m=2, n=19, k=127),
        Case(m=19, n=6, k=129),
        Case(m=between(33, 47), n=between(17, 31), k=between(650, 750)),
        Case(m=129, n=20, k=300),
        Case(m=20, n=131, k=300),
        Case(m=300, n=290, k=40),
        Case(m=5, n=70, k=1023, dtype=HALF),
        Case(m=70, n=5, k=577, dtype=BRAIN),
        Case(m=12, n=8, k=1088, dtype=HALF),
        Case(m=24, n=40, k=2161, dtype=HALF, cancels=True),
        Case(m=24, n=40, k=1461, dtype=BRAIN, cancels=True),
        Case(m=6, n=7, k=6000, dtype=HALF, values="negative"),
        Case(m=6, n=7, k=6007),
        Case(m=5, n=7, k=512, values="negative", overflows=True, dtype=HALF),
        Case(m=20, n=24, k=277, layout="transposed"),
        Case(m=20, n=24, k=278, layout="columns", b_layout="padded"),
        Case(m=20, n=24, k=280, layout="columns", a_layout="padded"),
        Case(m=20, n=24, k=260, layout="sliced"),
        Case(m=20, n=24, k=264, layout="padded", dtype=HALF),
        Case(m=20, n=24, k=540, layout="strided", dtype=HALF),
        Case(m=20, n=24, k=540, layout="offset", dtype=HALF),
        Case(m=20, n=24, k=261, layout="expanded", b_layout="contiguous"),
        Case(m=20, n=1, k=262, layout="expanded", a_layout="contiguous", values="negative"),
        Case(m=40, n=9, k=399, values="integers", exact=True),
        Case(m=40, n=9, k=799, values="integers", dtype=HALF, exact=True),
        Case(m=9, n=40, k=263, values="constant", b_values="normal"),
        Case(m=9, n=40, k=264, values="large"),
        Case(m=9, n=40, k=264, values="large", dtype=BRAIN),
        Case(m=9, n=40, k=265, values="heavy"),
        Case(m=9, n=40, k=266, values="spike"),
        Case(m=9, n=40, k=267, values="inf"),
        Case(m=9, n=40, k=268, values="nan"),
        Case(m=11, n=13, k=400, calls=2),
        Case(m=256, n=256, k=32768, dtype=HALF, gpu=True),
        Case(m=16, n=4096, k=16384, dtype=HALF, gpu=True),
        Case(m=17, n=20, k=2**27 + 5, dtype=HALF, huge=True),
        Case(m=17, n=20, k=2**27 + 5, dtype=HALF, layout="transposed", huge=True),
        Case(m=2100, n=20, k=2100, layout="far", dtype=HALF, huge=True),
        Case(m=17, n=20, k=2**15, layout="far", dtype=HALF, huge=True),
    ],
    speed=Speed(Case(m=256, n=256, k=32768, dtype=HALF), moved=moved, flops=flops, of_torch=0.25),
)
