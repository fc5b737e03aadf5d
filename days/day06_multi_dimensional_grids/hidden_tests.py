"""Day 06: a + b for batches of matrices of any strides, b broadcast, at 0.55 of a plain copy."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.dtypes import HALF


def inputs(case: Case, draw) -> tuple[torch.Tensor, torch.Tensor]:
    """a[B, M, N], and b in the shape that `b` spells: "MN" is [M, N], "B1N" is [B, 1, N].

    `b_layout` and `b_values` say how b differs from the case; it is contiguous where nothing is said.
    """
    sides = {"B": case.B, "M": case.M, "N": case.N, "1": 1}
    shape = [sides[letter] for letter in case.b]
    layout = case.get("b_layout", "contiguous")
    return draw(case.B, case.M, case.N), draw(*shape, layout=layout, values=case.get("b_values"))


big = Case(B=128, M=512, N=2048, b="MN", gpu=True)
# More than axes 1 and 2 of a grid take, and more than 2³¹ elements.
many = [
    Case(B=2**16 + 1, M=2, N=3, b="MN", gpu=True, demand="grid_axes"),
    Case(B=185_001, M=128, N=128, b="MN", dtype=HALF, huge=True),
    Case(B=1, M=50_001, N=50_003, b="MN", dtype=HALF, huge=True),
    Case(B=3, M=1_000_001, N=801, b="N", dtype=HALF, huge=True),
    Case(B=1, M=50_001, N=50_003, b="MN", dtype=HALF, layout="transposed", huge=True),
    Case(B=1, M=50_001, N=50_003, b="MN", dtype=HALF, b_layout="transposed", huge=True),
    Case(B=2, M=2100, N=9, b="MN", layout="far", b_layout="far", dtype=HALF, huge=True),
]

CASES = [
    Case(B=2, M=3, N=5, b="BMN"),
    Case(B=1, M=1, N=1, b="BMN"),
    Case(B=0, M=3, N=5, b="MN"),
    Case(B=3, M=0, N=5, b="N"),
    Case(B=3, M=5, N=0, b="1"),
    Case(B=3, M=4, N=8, b="MN"),
    Case(B=3, M=4, N=8, b="N"),
    Case(B=3, M=4, N=8, b="M1"),
    Case(B=3, M=4, N=8, b="B11"),
    Case(B=3, M=4, N=8, b="B1N"),
    Case(B=3, M=4, N=8, b="BM1"),
    Case(B=3, M=4, N=8, b="1"),
    Case(B=3, M=4, N=8, b="1MN"),
    Case(B=3, M=4, N=8, b="11N"),
    Case(B=3, M=4, N=8, b="1N"),
    Case(B=3, M=4, N=8, b=""),
    Case(B=8, M=8, N=8, b="BMN"),
    # Sides that are alike: b's axes are a's last ones, and no others of their length.
    Case(B=2, M=8, N=8, b="N"),
    Case(B=4, M=4, N=8, b="MN"),
    Case(B=8, M=4, N=8, b="N"),
    Case(B=1, M=1, N=300, b="BMN"),
    Case(B=1, M=300, N=1, b="BMN"),
    Case(B=40, M=1, N=1, b="BMN"),
    Case(B=2, M=31, N=127, b="MN"),
    Case(B=2, M=33, N=129, b="MN"),
    Case(B=2, M=48, N=144, b="MN"),
    Case(B=2, M=96, N=160, b="MN"),
    Case(B=2, M=129, N=33, b="BM1"),
    # Whole blocks one way and not the other.
    Case(B=2, M=3, N=256, b="MN"),
    Case(B=2, M=256, N=3, b="BM1"),
    Case(B=3, M=between(97, 127), N=between(33, 47), b="N"),
    Case(B=5, M=17, N=67, b="BMN", dtype=HALF),
    Case(B=3, M=20, N=70, b="MN", dtype=HALF),
    Case(B=2, M=150, N=300, b="MN", dtype=HALF),
    Case(B=3, M=12, N=40, b="BMN", layout="transposed"),
    Case(B=3, M=12, N=40, b="BMN", layout="transposed", b_layout="transposed"),
    Case(B=3, M=40, N=12, b="BMN", b_layout="columns"),
    Case(B=2, M=40, N=140, b="MN", layout="sliced"),
    Case(B=3, M=12, N=40, b="BMN", b_layout="sliced"),
    Case(B=3, M=12, N=40, b="BMN", layout="padded", b_layout="padded"),
    Case(B=3, M=12, N=40, b="MN", layout="strided", b_layout="transposed"),
    Case(B=3, M=12, N=40, b="N", layout="expanded", b_layout="strided"),
    Case(B=3, M=12, N=40, b="BMN", b_layout="expanded"),
    Case(B=3, M=12, N=41, b="MN", layout="offset", b_layout="offset"),
    Case(B=3, M=20, N=40, b="MN", values="integers", exact=True),
    Case(B=3, M=20, N=40, b="B1N", values="integers", dtype=HALF, exact=True),
    Case(B=3, M=20, N=40, b="M1", values="integers", layout="transposed", exact=True),
    Case(B=3, M=12, N=20, b="MN", values="constant"),
    Case(B=3, M=12, N=20, b="MN", values="spike"),
    Case(B=3, M=12, N=20, b="MN", values="heavy"),
    Case(B=3, M=12, N=20, b="MN", values="large"),
    Case(B=3, M=12, N=20, b="MN", values="large", dtype=HALF),
    Case(B=3, M=12, N=20, b="N", values="inf"),
    Case(B=3, M=12, N=20, b="N", values="nan"),
    Case(B=3, M=12, N=20, b="1", values="some_minus_inf", b_values="inf"),  # Inf - Inf is NaN
    Case(B=3, M=12, N=20, b="N", calls=2),
    *many,
    # Large enough that a fixed number of programs has several tiles each.
    Case(B=1301, M=3, N=5, b="MN"),
]

challenge = Challenge(
    entry="add_batched",
    inputs=inputs,
    reference=lambda a, b: a + b,
    rowwise=True,
    requires=("int32_overflow", "grid_axes"),
    shown=Case(B=2, M=33, N=129, b="MN"),
    cases=CASES,
    suspects={
        "Every matrix is made from matrix 0 of a: its batch stride is ignored.": lambda a, b: a[:1] + b,
        "Every matrix is made from matrix 0 of b: its batch stride is ignored.": lambda a, b: (
            a + (b[:1] if b.dim() == 3 else b)
        ),
        "b[N] is taken for a column where M = N; b's last axis is a's last, whatever the sizes are.": (
            lambda a, b: a + (b[:, None] if b.dim() == 1 and len(b) == a.shape[1] else b)
        ),
        "b[M, N] is taken for [B, 1, N] where M = B; b's last axes are a's last, whatever the sizes are.": (
            lambda a, b: a + (b[:, None] if b.dim() == 2 and len(b) == len(a) else b)
        ),
        "Inf - Inf is NaN, and here it is 0.": lambda a, b: torch.where(
            (a + b).isnan() & ~a.isnan() & ~b.isnan(), 0.0, a + b
        ),
    },
    speed=Speed(big, moved=lambda a, b: 2 * a.nbytes + b.nbytes, of_copy=0.55),
    memory=Memory(big),
)
