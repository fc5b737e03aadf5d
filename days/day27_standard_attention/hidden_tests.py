"""Day 27: attention in three steps, scores, softmax and weighted sum, with and without a causal mask."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, Piece, between
from grader.challenge.formulas.attention import attention
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.exact_scores import qkv

from .suspects import SUSPECTS


def inputs(case: Case, draw) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, float, bool]:
    """q, k, v, scale and causal. Where `large`, q and k are small whole numbers, whose products are exact.

    `gain` multiplies q and k. With `bshd` a token's heads lie together in memory, as [B, S, H, D] has
    them; with `one_head` all heads of k and v are the same memory. `lookup` makes a dictionary of q and
    k: each query is a key. `sink` makes an attention sink of the first key: its scores are so large, and
    all others are 0.
    """
    return *qkv(case, draw, whole=True), case.get("scale", case.D**-0.5), case.get("causal", False)


# Weights of exactly 0 and 1: every query is one of the keys. The largest score is a power of 2: times log2 e
# it does not round, and the exponent is 0 whether its product and difference are fused or not.
DICTIONARY = {"values": "large", "v_values": "integers", "lookup": True, "exact": True}
FAR_BELOW = {"values": "negative", "k_values": "constant", "v_values": "normal"}

PIECES = (
    Piece("scores", "scores_kernel"),
    Piece("softmax", "softmax_kernel"),
    Piece("weighted sum", "weighted_sum_kernel"),
    Piece("launcher", "attention"),
)

# Walked: more than 2**31 elements, along every axis.
HUGE = [
    Case(B=4, H=8, Sq=9200, Sk=9200, D=16, dtype=HALF, huge=True),
    Case(B=1, H=1, Sq=185_001, Sk=16_384, D=16, dtype=HALF, huge=True),
    Case(B=1, H=20, Sq=2**20 + 5, Sk=64, D=128, dtype=HALF, huge=True),
    Case(B=20, H=1, Sq=2**20 + 5, Sk=64, D=128, dtype=HALF, huge=True),
    Case(B=1, H=20, Sq=2**20 + 5, Sk=64, D=128, bshd=True, dtype=HALF, huge=True),
    Case(B=1, H=1, Sq=2100, Sk=2100, D=16, layout="far", dtype=HALF, huge=True),
]

CASES = [
    Case(B=1, H=1, Sq=16, Sk=16, D=16),
    Case(B=1, H=1, Sq=48, Sk=48, D=16),
    Case(B=1, H=1, Sq=96, Sk=96, D=16),
    Case(B=1, H=2, Sq=128, Sk=128, D=16),
    Case(B=1, H=1, Sq=16, Sk=16, D=16, causal=True),
    Case(B=1, H=1, Sq=1, Sk=1, D=16),
    Case(B=0, H=2, Sq=5, Sk=5, D=16),
    Case(B=2, H=3, Sq=0, Sk=5, D=16, causal=True),
    Case(B=2, H=3, Sq=5, Sk=7, D=20),
    Case(B=3, H=2, Sq=7, Sk=5, D=24, causal=True),
    Case(B=2, H=3, Sq=5, Sk=12, D=16, causal=True),
    Case(B=1, H=2, Sq=20, Sk=9, D=32, causal=True),
    Case(B=1, H=1, Sq=63, Sk=65, D=64),
    Case(B=1, H=1, Sq=2, Sk=16_384, D=16),
    Case(B=1, H=1, Sq=65, Sk=63, D=64, causal=True),
    Case(B=1, H=1, Sq=64, Sk=64, D=80, causal=True),
    Case(B=1, H=2, Sq=31, Sk=33, D=96),
    Case(B=1, H=1, Sq=17, Sk=129, D=128),
    Case(B=2, H=2, Sq=between(66, 79), Sk=between(17, 31), D=40),
    Case(B=1, H=2, Sq=1, Sk=130, D=64, causal=True),
    Case(B=1, H=1, Sq=3, Sk=1025, D=16),
    Case(B=1, H=1, Sq=37, Sk=97, D=48, causal=True),
    Case(B=1, H=2, Sq=40, Sk=40, D=16, scale=1.0),
    Case(B=1, H=1, Sq=20, Sk=30, D=32, scale=-0.5, causal=True, demand="extreme_inputs"),
    Case(B=1, H=2, Sq=40, Sk=70, D=64, dtype=HALF),
    Case(B=1, H=1, Sq=150, Sk=140, D=32, dtype=HALF),
    Case(B=1, H=2, Sq=70, Sk=40, D=80, dtype=HALF, causal=True),
    Case(B=1, H=1, Sq=20, Sk=600, D=32, dtype=HALF),
    Case(B=1, H=1, Sq=3, Sk=2048, D=64, sink=13.46, dtype=HALF),
    Case(B=1, H=2, Sq=40, Sk=70, D=96, dtype=BRAIN, causal=True),
    Case(B=1, H=1, Sq=50, Sk=50, D=128, dtype=BRAIN),
    Case(B=2, H=3, Sq=10, Sk=14, D=32, bshd=True),
    Case(B=2, H=2, Sq=14, Sk=20, D=80, bshd=True, dtype=HALF, causal=True),
    Case(B=2, H=3, Sq=10, Sk=14, D=32, one_head=True),
    Case(B=2, H=2, Sq=10, Sk=14, D=24, layout="sliced"),
    Case(B=2, H=2, Sq=12, Sk=12, D=80, layout="sliced", dtype=BRAIN, causal=True),
    Case(B=2, H=2, Sq=10, Sk=14, D=32, layout="transposed"),
    Case(B=2, H=2, Sq=10, Sk=14, D=32, k_layout="columns", v_layout="padded", dtype=HALF),
    Case(B=2, H=2, Sq=10, Sk=14, D=32, q_layout="sliced", v_layout="strided"),
    Case(B=2, H=2, Sq=10, Sk=14, D=32, layout="strided", k_layout="contiguous", causal=True),
    Case(B=3, H=2, Sq=8, Sk=9, D=32, layout="expanded"),
    Case(B=2, H=2, Sq=9, Sk=11, D=48, layout="offset", dtype=HALF),
    Case(B=1, H=2, Sq=30, Sk=40, D=16, **DICTIONARY, scale=64.0),
    Case(B=1, H=1, Sq=20, Sk=90, D=64, **DICTIONARY, scale=2048.0, dtype=HALF),
    Case(B=1, H=2, Sq=20, Sk=40, D=16, values="large", gain=128.0, scale=5e-6),
    Case(B=1, H=2, Sq=20, Sk=40, D=16, values="large", gain=128.0, scale=1e-4, dtype=HALF),
    Case(B=1, H=2, Sq=20, Sk=33, D=32, values="constant", v_values="normal", scale=0.02),
    Case(B=1, H=2, Sq=20, Sk=33, D=32, **FAR_BELOW, gain=24.0, dtype=BRAIN),
    Case(B=1, H=2, Sq=20, Sk=33, D=32, values="heavy", dtype=HALF, causal=True),
    Case(B=1, H=2, Sq=20, Sk=33, D=32, values="normal", v_values="spike"),
    Case(B=1, H=2, Sq=20, Sk=33, D=32, values="normal", q_values="nan"),
    Case(B=1, H=2, Sq=20, Sk=33, D=32, values="normal", v_values="nan"),
    Case(B=1, H=2, Sq=20, Sk=30, D=32, calls=2, causal=True),
    *HUGE,
]

challenge = Challenge(
    entry="attention",
    inputs=inputs,
    reference=attention,
    suspects=SUSPECTS,
    shown=Case(B=1, H=1, Sq=65, Sk=63, D=64, causal=True),
    pieces=PIECES,
    cases=CASES,
)
