"""Day 30: (q kᵀ · scale) v without a matrix of scores."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, Memory, between
from grader.challenge.formulas.attention import unnormalized
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.qkv_layouts import BSHD, projected

from .suspects import SUSPECTS


def inputs(case: Case, draw) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, float]:
    """q, k, v and the scale, 1/√D unless given. With `swing` sums run far out, then most of the way back;
    `gain` multiplies q and k. With `bshd` a token's heads lie together in memory, as [B, S, H, D] has them.
    """
    q = projected(case, draw, "q", case.Sq)
    k, v = projected(case, draw, "k", case.Sk), projected(case, draw, "v", case.Sk)
    for x in (q, k):
        if "gain" in case:
            x *= case.gain
    if case.get("swing"):
        v[:, :, case.Sk // 2 :] *= -0.75
    return q, k, v, case.get("scale", case.D**-0.5)


# Walked: more than 2**31 elements, along every axis.
HUGE = [
    Case(B=256, H=300, Sq=1, Sk=20, D=16, huge=True),
    Case(B=1, H=20, Sq=2**20 + 5, Sk=2**20 + 5, D=128, dtype=HALF, huge=True),
    Case(B=20, H=1, Sq=2**20 + 5, Sk=2**20 + 5, D=128, dtype=HALF, huge=True),
    Case(B=1, H=20, Sq=2**20 + 5, Sk=2**20 + 5, D=128, layout=BSHD, dtype=HALF, huge=True),
    Case(B=1, H=1, Sq=2100, Sk=2100, D=16, layout="far", dtype=HALF, huge=True),
]

CASES = [
    Case(B=1, H=1, Sq=16, Sk=16, D=16),
    Case(B=2, H=3, Sq=9, Sk=12, D=16),
    Case(B=2, H=3, Sq=48, Sk=48, D=16),
    Case(B=2, H=3, Sq=96, Sk=96, D=16),
    Case(B=0, H=2, Sq=8, Sk=8, D=16),
    Case(B=2, H=3, Sq=0, Sk=70, D=64),
    Case(B=2, H=3, Sq=60, Sk=0, D=64),
    Case(B=1, H=2, Sq=15, Sk=31, D=33),
    Case(B=3, H=2, Sq=17, Sk=16, D=7),
    Case(B=1, H=1, Sq=1, Sk=130, D=64),
    Case(B=1, H=2, Sq=63, Sk=15, D=64),
    Case(B=1, H=2, Sq=64, Sk=16, D=64),
    Case(B=2, H=1, Sq=65, Sk=17, D=64),
    Case(B=1, H=2, Sq=between(18, 31), Sk=between(98, 111), D=80),
    Case(B=2, H=1, Sq=100, Sk=37, D=96),
    Case(B=1, H=1, Sq=40, Sk=61, D=128),
    Case(B=2, H=2, Sq=33, Sk=45, D=100),
    Case(B=1, H=2, Sq=31, Sk=30, D=20, scale=-0.7, demand="extreme_inputs"),
    Case(B=1, H=2, Sq=127, Sk=63, D=64, dtype=HALF),
    Case(B=2, H=1, Sq=128, Sk=64, D=128, dtype=HALF),
    Case(B=1, H=2, Sq=129, Sk=65, D=80, dtype=HALF),
    Case(B=1, H=2, Sq=50, Sk=129, D=96, dtype=BRAIN),
    Case(B=2, H=1, Sq=70, Sk=63, D=128, dtype=BRAIN),
    Case(B=1, H=1, Sq=20, Sk=1000, D=64, dtype=HALF, values="negative", swing=True),
    Case(B=1, H=1, Sq=1, Sk=1, D=64, values="negative"),
    Case(B=2, H=2, Sq=30, Sk=1, D=9, values="negative"),
    Case(B=1, H=2, Sq=9, Sk=30, D=1, values="negative", demand="degenerate_sizes"),
    Case(B=2, H=2, Sq=30, Sk=40, D=32, layout=BSHD),
    Case(B=2, H=3, Sq=130, Sk=17, D=80, layout=BSHD, dtype=HALF),
    Case(B=2, H=2, Sq=30, Sk=31, D=32, layout=BSHD, q_layout="contiguous"),
    Case(B=2, H=2, Sq=30, Sk=17, D=32, layout=BSHD, v_layout="contiguous"),
    # Sides of 1, beside strides that are not those of a packed tensor.
    Case(B=3, H=1, Sq=30, Sk=40, D=32, layout=BSHD),
    Case(B=2, H=3, Sq=1, Sk=40, D=32, layout="strided"),
    Case(B=2, H=3, Sq=20, Sk=1, D=32, layout="strided", values="negative"),
    Case(B=2, H=2, Sq=30, Sk=40, D=48, layout="transposed"),
    Case(B=2, H=2, Sq=30, Sk=40, D=48, layout="sliced", dtype=HALF),
    Case(B=2, H=2, Sq=30, Sk=40, D=64, layout="padded", v_layout="columns", dtype=HALF),
    Case(B=2, H=2, Sq=30, Sk=40, D=48, layout="strided"),
    Case(B=2, H=2, Sq=30, Sk=40, D=50, layout="offset", dtype=HALF),
    Case(B=3, H=2, Sq=30, Sk=20, D=32, layout="expanded", q_layout="contiguous"),
    Case(B=2, H=2, Sq=33, Sk=47, D=20, scale=0.5, values="integers", exact=True),
    Case(
        B=2,
        H=2,
        Sq=33,
        Sk=27,
        D=16,
        scale=-1.0,
        values="integers",
        dtype=HALF,
        exact=True,
        demand="extreme_inputs",
    ),
    Case(B=1, H=2, Sq=20, Sk=50, D=24, values="large"),
    Case(B=1, H=2, Sq=40, Sk=65, D=64, gain=100.0, scale=1e-4, dtype=HALF),  # scores of 3e5, unscaled
    Case(B=1, H=2, Sq=20, Sk=50, D=24, values="heavy"),
    Case(B=1, H=2, Sq=20, Sk=50, D=24, values="constant", q_values="negative", v_values="normal"),
    Case(B=1, H=2, Sq=20, Sk=50, D=24, values="spike"),
    Case(B=1, H=2, Sq=20, Sk=50, D=24, values="inf", q_values="normal", v_values="normal"),
    Case(B=1, H=2, Sq=20, Sk=50, D=24, values="nan"),
    Case(B=2, H=2, Sq=20, Sk=33, D=24, calls=2),
    Case(B=300, H=256, Sq=1, Sk=20, D=16, gpu=True, demand="grid_axes"),
    Case(B=2, H=16, Sq=2000, Sk=3001, D=128, dtype=HALF, gpu=True),
    *HUGE,
]

challenge = Challenge(
    entry="tiled_attention_scores",
    inputs=inputs,
    reference=unnormalized,
    suspects=SUSPECTS,
    shown=Case(B=2, H=1, Sq=100, Sk=37, D=96),
    cases=CASES,
    # 2.5 MiB of scores; as much as q again, 0.07 MiB, is forgiven.
    memory=Memory(Case(B=1, H=1, Sq=1600, Sk=1600, D=32, dtype=HALF), extra=lambda q, k, v, scale: q.nbytes),
)
