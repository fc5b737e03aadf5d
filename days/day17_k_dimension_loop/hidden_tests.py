"""Day 17: a @ b for matrices of any size, at 0.35 of torch's speed."""

from __future__ import annotations

from grader.challenge import Case, Challenge, Memory, Speed
from grader.formulas.dtypes import BRAIN, HALF
from grader.formulas.matmul import flops, moved, swinging

big = Case(m=4096, k=4096, n=4096, dtype=HALF, gpu=True)

CASES = [
    Case(m=16, k=16, n=16),
    Case(m=1, k=1, n=1),
    Case(m=0, k=8, n=8),
    Case(m=8, k=8, n=0),
    Case(m=8, k=0, n=9),
    Case(m=2, k=3, n=4),
    Case(m=5, k=15, n=7),
    Case(m=5, k=16, n=7),
    Case(m=5, k=17, n=7),
    Case(m=9, k=31, n=20),
    Case(m=9, k=32, n=20),
    Case(m=9, k=33, n=20),
    Case(m=9, k=63, n=20),
    Case(m=9, k=64, n=20),
    Case(m=9, k=65, n=20),
    Case(m=20, k=127, n=9),
    Case(m=20, k=128, n=9),
    Case(m=20, k=129, n=9),
    Case(m=1, k=500, n=60),
    Case(m=64, k=192, n=64),
    Case(m=65, k=100, n=63),
    Case(m=40, k=200, n=150),
    Case(m=150, k=200, n=40),
    Case(m=7, k=2003, n=11),
    Case(m=128, k=256, n=256, dtype=HALF),
    Case(m=129, k=200, n=257, dtype=HALF),
    Case(m=30, k=63, n=300, dtype=HALF),
    Case(m=300, k=65, n=30, dtype=HALF),
    Case(m=16, k=2048, n=15, swing=True, dtype=HALF),
    Case(m=5, k=512, n=7, values="negative", overflows=True, dtype=HALF),
    Case(m=16, k=16384, n=15, swing=True, dtype=HALF, gpu=True),
    Case(m=100, k=333, n=130, dtype=BRAIN),
    Case(m=9, k=1027, n=10, dtype=BRAIN),
    Case(m=70, k=140, n=90, layout="transposed"),
    Case(m=70, k=140, n=90, layout="columns", dtype=HALF),
    Case(m=72, k=140, n=96, layout="padded", dtype=HALF),
    Case(m=70, k=140, n=90, layout="transposed", b_layout="contiguous"),
    Case(m=50, k=141, n=60, layout="sliced"),
    Case(m=50, k=141, n=60, layout="sliced", dtype=HALF),
    Case(m=50, k=160, n=70, layout="sliced", b_layout="columns", dtype=BRAIN),
    Case(m=50, k=141, n=60, layout="strided"),
    Case(m=50, k=141, n=60, layout="offset", dtype=HALF),
    Case(m=30, k=120, n=40, layout="expanded", b_layout="contiguous"),
    Case(m=30, k=120, n=40, layout="expanded"),
    Case(m=70, k=300, n=80, values="integers", exact=True),
    Case(m=70, k=40, n=80, values="integers", dtype=HALF, exact=True),
    Case(m=70, k=100, n=80, values="constant"),
    Case(m=30, k=200, n=40, values="spike"),
    Case(m=30, k=200, n=40, values="large"),
    Case(m=30, k=200, n=40, values="heavy"),
    Case(m=90, k=200, n=1, values="negative"),
    Case(m=30, k=150, n=40, values="inf", b_values="normal"),
    Case(m=30, k=150, n=40, values="nan", b_values="normal"),
    Case(m=50, k=150, n=50, calls=2),
    Case(m=85_001, k=64, n=32_768, dtype=HALF, huge=True),
    Case(m=17, k=2**27, n=20, dtype=HALF, layout="transposed", huge=True),
]

challenge = Challenge(
    entry="matmul",
    inputs=swinging,
    reference=lambda a, b: a @ b,
    reduces=lambda case: case.k,
    shown=Case(m=129, k=200, n=257, dtype=HALF),
    cases=CASES,
    speed=Speed(big, moved=moved, flops=flops, of_torch=0.35),
    memory=Memory(big),
)
