"""Day 28: attention without a tensor of Sq x Sk, and the bytes that such a tensor would cost."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.attention import attention
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.exact_scores import qkv
from grader.challenge.formulas.sdpa import three_steps

from .suspects import OF_ATTENTION, OF_BYTES


def inputs(case: Case, draw) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, float]:
    """q, k, v and scale; `rising` sorts the keys: scores grow, or fall. Where `large` and `whole`, q and
    k are small whole numbers, whose products are exact.

    `gain` multiplies q and k. With `bshd` a token's heads lie together in memory, as [B, S, H, D] has
    them; with `one_head` all heads of k and v are the same memory. `lookup` makes a dictionary of q and
    k: each query is a key. `sink` makes an attention sink of the first key: its scores are so large, and
    all others are 0.
    """
    q, k, v = qkv(case, draw, whole="whole" in case)
    if "rising" in case:
        q.copy_(q.abs())
        k.copy_(k.sort(dim=2, descending=case.rising < 0).values)
    return q, k, v, case.get("scale", case.D**-0.5)


def attention_bytes(S: int, D: int, itemsize: int) -> int:
    return itemsize * (4 * S * D + 4 * S * S)


big = Case(B=4, H=16, Sq=2048, Sk=2048, D=128, dtype=HALF)

# Weights of exactly 0 and 1: every query is one of the keys. The largest score is a power of 2: times log2 e
# it does not round, and the exponent is 0 whether its product and difference are fused or not.
DICTIONARY = {"values": "large", "v_values": "integers", "lookup": True, "exact": True}
FAR_BELOW = {"values": "negative", "k_values": "constant", "v_values": "normal"}

CASES = [
    Case(B=1, H=1, Sq=16, Sk=16, D=16),
    Case(B=1, H=1, Sq=1, Sk=1, D=16),
    Case(B=0, H=2, Sq=5, Sk=5, D=16),
    Case(B=2, H=3, Sq=0, Sk=5, D=16),
    Case(B=2, H=3, Sq=5, Sk=7, D=20),
    Case(B=3, H=2, Sq=7, Sk=5, D=24),
    Case(B=1, H=2, Sq=9, Sk=31, D=32),
    Case(B=1, H=2, Sq=9, Sk=32, D=32),
    Case(B=1, H=2, Sq=48, Sk=48, D=32),
    Case(B=1, H=2, Sq=96, Sk=96, D=32),
    Case(B=1, H=2, Sq=9, Sk=33, D=32),
    Case(B=1, H=1, Sq=63, Sk=65, D=64),
    Case(B=1, H=1, Sq=64, Sk=64, D=80),
    Case(B=1, H=2, Sq=31, Sk=33, D=96),
    Case(B=1, H=1, Sq=17, Sk=129, D=128),
    Case(B=2, H=2, Sq=between(129, 143), Sk=between(17, 31), D=40),
    Case(B=1, H=2, Sq=1, Sk=130, D=64),
    Case(B=1, H=1, Sq=2, Sk=1025, D=16),
    Case(B=1, H=1, Sq=40, Sk=40, D=16, scale=1.0),
    Case(B=1, H=1, Sq=20, Sk=70, D=32, scale=-0.5, demand="extreme_inputs"),
    Case(B=1, H=2, Sq=40, Sk=70, D=64, dtype=HALF),
    Case(B=1, H=2, Sq=150, Sk=40, D=80, dtype=HALF),
    Case(B=1, H=1, Sq=5, Sk=2048, D=32, dtype=HALF),
    Case(B=1, H=1, Sq=3, Sk=2048, D=64, sink=13.46, dtype=HALF),
    Case(B=2, H=2, Sq=300, Sk=2047, D=128, dtype=HALF, gpu=True),
    Case(B=1, H=20, Sq=2**20 + 5, Sk=2**20 + 5, D=128, dtype=HALF, huge=True),
    Case(B=20, H=1, Sq=2**20 + 5, Sk=2**20 + 5, D=128, dtype=HALF, huge=True),
    Case(B=1, H=20, Sq=2**20 + 5, Sk=2**20 + 5, D=128, bshd=True, dtype=HALF, huge=True),
    Case(B=1, H=1, Sq=2100, Sk=2100, D=16, layout="far", dtype=HALF, huge=True),
    Case(B=1, H=2, Sq=40, Sk=70, D=96, dtype=BRAIN),
    Case(B=1, H=1, Sq=50, Sk=150, D=128, dtype=BRAIN),
    Case(B=2, H=3, Sq=10, Sk=14, D=32, bshd=True),
    Case(B=2, H=2, Sq=14, Sk=80, D=80, bshd=True, dtype=HALF),
    Case(B=2, H=3, Sq=10, Sk=14, D=32, one_head=True),
    Case(B=1, H=2, Sq=20, Sk=200, D=32, values="large", rising=1, gain=4.0, dtype=HALF),
    Case(B=1, H=2, Sq=20, Sk=200, D=32, values="large", rising=-1, gain=4.0, dtype=HALF),
    Case(B=1, H=1, Sq=3, Sk=2048, D=32, values="large", rising=1, gain=4.0, dtype=HALF),
    Case(B=2, H=2, Sq=10, Sk=14, D=24, layout="sliced"),
    Case(B=2, H=2, Sq=12, Sk=70, D=80, layout="sliced", dtype=BRAIN),
    Case(B=2, H=2, Sq=10, Sk=14, D=32, layout="transposed"),
    Case(B=2, H=2, Sq=10, Sk=14, D=32, k_layout="columns", v_layout="padded", dtype=HALF),
    Case(B=2, H=2, Sq=10, Sk=40, D=32, q_layout="sliced", v_layout="strided"),
    Case(B=2, H=2, Sq=10, Sk=14, D=32, layout="strided", k_layout="contiguous"),
    Case(B=3, H=2, Sq=8, Sk=9, D=32, layout="expanded"),
    Case(B=2, H=2, Sq=9, Sk=11, D=48, layout="offset", dtype=HALF),
    Case(B=1, H=2, Sq=30, Sk=70, D=16, **DICTIONARY, scale=64.0),
    Case(B=1, H=1, Sq=20, Sk=90, D=64, **DICTIONARY, scale=2048.0, dtype=HALF),
    Case(B=1, H=2, Sq=20, Sk=70, D=16, values="large", whole=True, gain=128.0, scale=5e-6),
    Case(B=1, H=2, Sq=20, Sk=90, D=16, values="large", whole=True, gain=128.0, scale=1e-4, dtype=HALF),
    Case(B=1, H=2, Sq=20, Sk=33, D=32, values="constant", v_values="normal", scale=0.02),
    # Scores around -17,000: far below any mask that is merely small.
    Case(B=1, H=2, Sq=30, Sk=33, D=32, **FAR_BELOW, gain=24.0, dtype=BRAIN),
    Case(B=1, H=2, Sq=20, Sk=33, D=32, values="heavy", dtype=HALF),
    Case(B=1, H=2, Sq=20, Sk=33, D=32, values="normal", v_values="spike"),
    Case(B=1, H=2, Sq=20, Sk=33, D=32, values="normal", q_values="nan"),
    Case(B=1, H=2, Sq=20, Sk=33, D=32, values="normal", v_values="nan"),
    Case(B=1, H=2, Sq=20, Sk=70, D=32, calls=2),
]

attend = Challenge(
    entry="attention",
    inputs=inputs,
    reference=attention,
    suspects=OF_ATTENTION,
    shown=Case(B=1, H=1, Sq=63, Sk=65, D=64),
    cases=CASES,
    speed=Speed(
        big,
        moved=lambda q, k, v, scale: 2 * q.nbytes + k.nbytes + v.nbytes,
        flops=lambda q, k, v, scale: 4 * q.numel() * k.shape[2],
        of_torch=1.5,
        torch=three_steps,
    ),
    # Room for some statistics of every query, and none for scores, which are 4.9 MB.
    memory=Memory(
        Case(B=1, H=1, Sq=1536, Sk=1600, D=16, dtype=HALF), extra=lambda q, k, v, scale: 8 * q.numel()
    ),
)

count = Challenge(
    entry="attention_bytes",
    inputs=lambda case, draw: (case.S, case.D, case.itemsize),
    reference=attention_bytes,
    suspects=OF_BYTES,
    cases=[
        Case(S=1, D=1, itemsize=1),
        Case(S=2, D=3, itemsize=4),
        Case(S=64, D=64, itemsize=2),
        Case(S=between(900, 1020), D=80, itemsize=2),
        Case(S=2048, D=128, itemsize=2),
        Case(S=4096, D=64, itemsize=4),
        Case(S=1 << 20, D=128, itemsize=2),
    ],
)

challenge = (attend, count)
