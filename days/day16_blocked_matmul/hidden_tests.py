"""Day 16: a @ b with an inner dimension of at most 128, at 0.35 of torch's speed."""

from __future__ import annotations

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.matmul import flops, moved, swinging

big = Case(m=8192, k=128, n=8192, dtype=HALF, gpu=True)

CASES = [
    Case(m=16, k=16, n=16),
    Case(m=48, k=48, n=48),
    Case(m=96, k=96, n=96, dtype=HALF),
    # Whole tiles alone, several each way: a row of tiles that is thought longer leads elsewhere.
    Case(m=256, k=16, n=512),
    Case(m=1, k=1, n=1),
    Case(m=0, k=8, n=8),
    Case(m=8, k=8, n=0),
    Case(m=8, k=0, n=9),
    Case(m=2, k=3, n=4),
    Case(m=5, k=128, n=7),
    Case(m=15, k=15, n=15),
    Case(m=17, k=17, n=17),
    Case(m=1, k=100, n=90),
    Case(m=90, k=1, n=70),
    Case(m=64, k=64, n=64),
    Case(m=63, k=31, n=65),
    Case(m=65, k=33, n=63),
    Case(m=32, k=127, n=150),
    Case(m=150, k=128, n=32),
    Case(m=257, k=50, n=40),
    Case(m=40, k=50, n=257),
    Case(m=between(131, 143), k=between(97, 111), n=between(193, 223)),
    # Wider, and taller, than a program that takes several tiles in a row gets in one go.
    Case(m=3, k=20, n=1500),
    Case(m=1500, k=20, n=3),
    Case(m=128, k=128, n=128, dtype=HALF),
    Case(m=129, k=127, n=127, dtype=HALF),
    Case(m=200, k=64, n=300, dtype=HALF),
    Case(m=9, k=8, n=10, dtype=HALF),
    Case(m=30, k=128, n=40, swing=True, dtype=HALF),
    Case(m=100, k=128, n=130, dtype=BRAIN),
    Case(m=9, k=33, n=300, dtype=BRAIN),
    Case(m=70, k=40, n=90, layout="transposed"),
    Case(m=70, k=40, n=90, layout="columns", dtype=HALF),
    Case(m=72, k=40, n=96, layout="padded", dtype=HALF),
    Case(m=70, k=40, n=90, layout="transposed", b_layout="contiguous"),
    Case(m=140, k=70, n=90, layout="transposed", b_layout="sliced", dtype=BRAIN),
    Case(m=50, k=41, n=60, layout="sliced"),
    Case(m=50, k=41, n=60, layout="sliced", dtype=HALF),
    Case(m=50, k=60, n=70, layout="sliced", b_layout="columns"),
    Case(m=50, k=41, n=60, layout="strided"),
    Case(m=50, k=41, n=60, layout="offset", dtype=HALF),
    Case(m=30, k=20, n=40, layout="expanded", b_layout="contiguous"),
    Case(m=30, k=20, n=40, layout="expanded"),
    Case(m=70, k=100, n=90, values="integers", exact=True),
    Case(m=70, k=40, n=90, values="integers", dtype=HALF, exact=True),
    Case(m=70, k=100, n=90, values="constant"),
    Case(m=70, k=100, n=90, values="constant", dtype=HALF),
    Case(m=30, k=100, n=40, values="spike"),
    Case(m=30, k=100, n=40, values="large"),
    Case(m=30, k=40, n=40, values="large", dtype=BRAIN),
    Case(m=30, k=100, n=40, values="heavy"),
    Case(m=30, k=100, n=40, values="negative", dtype=HALF),
    Case(m=90, k=100, n=1, values="negative"),
    Case(m=30, k=20, n=40, values="inf", b_values="normal"),
    Case(m=30, k=20, n=40, values="nan", b_values="normal"),
    Case(m=30, k=20, n=40, values="nan", a_values="zeros"),
    Case(m=50, k=50, n=50, calls=2),
    Case(m=85_001, k=67, n=32_771, dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(m=1100, k=20, n=700),
]

challenge = Challenge(
    entry="matmul",
    inputs=swinging,
    reference=lambda a, b: a @ b,
    shown=Case(m=129, k=127, n=127, dtype=HALF),
    cases=CASES,
    speed=Speed(big, moved=moved, flops=flops, of_torch=0.35),
    memory=Memory(big),
)
