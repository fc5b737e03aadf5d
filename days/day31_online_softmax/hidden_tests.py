"""Day 31: the logsumexp of attention scores, causal or not, by an online softmax."""

from __future__ import annotations

import math

import torch

from grader.challenge import Case, Challenge, Memory, Own, between
from grader.challenge.formulas.attention import attention_lse
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.qkv_layouts import BSHD, projected

from .suspects import SUSPECTS

CLIMBING = Own("climbing")


def tensor(case: Case, draw, which: str, length: int) -> torch.Tensor:
    """q or k; where the case is CLIMBING, every key lies a little further out than the one before it."""
    plain = case.values in (CLIMBING, "minus_inf")
    x = projected(case, draw, which, length, "normal" if plain else None)
    if case.values == CLIMBING:
        x.mul_(0.1).add_(torch.arange(1, length + 1, device=x.device)[:, None] / 20)
    return x


def inputs(case: Case, draw) -> tuple[torch.Tensor, torch.Tensor, float, bool]:
    """q, k, the scale (1/√D unless given), and whether causal.

    Where the case is CLIMBING the scores rise from key to key; with "minus_inf" those of the first `hidden`
    keys are -inf for every query, and with `below` all others negative. With `bshd` a token's heads lie
    together in memory, as [B, S, H, D] has them.
    """
    q, k = tensor(case, draw, "q", case.Sq), tensor(case, draw, "k", case.Sk)
    if case.values == CLIMBING:
        q.abs_()
    if case.values == "minus_inf":
        q.abs_().add_(0.5)
        if "below" in case:
            k.abs_().neg_()
        k[:, :, : case.hidden, 0] = -math.inf
    return q, k, case.get("scale", case.D**-0.5), case.causal


CASES = [
    Case(B=1, H=1, Sq=16, Sk=16, D=16, causal=False),
    Case(B=1, H=1, Sq=16, Sk=16, D=16, causal=True),
    Case(B=2, H=3, Sq=9, Sk=12, D=16, causal=False),
    Case(B=2, H=3, Sq=96, Sk=96, D=16, causal=False),
    Case(B=0, H=2, Sq=8, Sk=8, D=16, causal=True),
    Case(B=2, H=3, Sq=0, Sk=70, D=64, causal=True),
    Case(B=2, H=3, Sq=70, Sk=0, D=64, causal=False),
    Case(B=2, H=3, Sq=70, Sk=0, D=64, causal=True),
    Case(B=1, H=2, Sq=15, Sk=31, D=33, causal=False),
    Case(B=3, H=2, Sq=17, Sk=17, D=7, causal=True),
    Case(B=1, H=1, Sq=1, Sk=130, D=64, causal=True),
    Case(B=1, H=1, Sq=1, Sk=131, D=64, causal=False),
    Case(B=1, H=2, Sq=63, Sk=63, D=64, causal=True),
    Case(B=1, H=2, Sq=64, Sk=64, D=64, causal=True),
    Case(B=2, H=1, Sq=65, Sk=65, D=64, causal=True),
    # The last query of a full tile sees the first key of a tile, and no other of it.
    Case(B=1, H=1, Sq=128, Sk=129, D=16, causal=True),
    Case(B=2, H=1, Sq=20, Sk=100, D=80, causal=True),
    Case(B=2, H=1, Sq=30, Sk=77, D=96, causal=False),
    Case(B=1, H=2, Sq=between(66, 75), Sk=between(76, 90), D=32, causal=True),
    Case(B=1, H=2, Sq=80, Sk=67, D=32, causal=True),
    Case(B=2, H=2, Sq=130, Sk=20, D=48, causal=True),
    Case(B=1, H=1, Sq=150, Sk=1, D=20, causal=True),
    Case(B=1, H=2, Sq=31, Sk=30, D=20, causal=False, scale=-0.7),
    Case(B=1, H=2, Sq=31, Sk=40, D=20, causal=True, scale=-0.7),
    Case(B=1, H=2, Sq=21, Sk=40, D=20, causal=False, scale=0.0),
    Case(B=1, H=2, Sq=129, Sk=129, D=64, causal=True, dtype=HALF),
    Case(B=1, H=2, Sq=128, Sk=64, D=80, causal=False, dtype=HALF),
    Case(B=1, H=2, Sq=127, Sk=300, D=128, causal=True, dtype=HALF),
    Case(B=1, H=1, Sq=300, Sk=150, D=96, causal=True, dtype=BRAIN),
    Case(B=2, H=1, Sq=70, Sk=130, D=128, causal=False, dtype=BRAIN),
    Case(B=1, H=1, Sq=1, Sk=1, D=64, causal=True, values="negative"),
    Case(B=1, H=2, Sq=40, Sk=150, D=16, causal=False, values=CLIMBING),
    Case(B=2, H=1, Sq=150, Sk=150, D=16, causal=True, values=CLIMBING),
    Case(B=1, H=2, Sq=200, Sk=400, D=16, causal=False, values=CLIMBING, dtype=HALF),
    Case(B=2, H=1, Sq=40, Sk=100, D=16, causal=False, values=CLIMBING, scale=-1.0),
    Case(B=1, H=2, Sq=40, Sk=150, D=16, causal=False, hidden=70, values="minus_inf"),
    Case(B=1, H=2, Sq=150, Sk=150, D=16, causal=True, hidden=70, values="minus_inf"),
    Case(B=1, H=2, Sq=150, Sk=150, D=16, causal=True, hidden=130, values="minus_inf", dtype=HALF),
    # Scores around -500 behind a tile that shows nothing: a maximum that starts over from 0 loses them.
    Case(B=1, H=2, Sq=40, Sk=150, D=16, causal=False, hidden=70, below=True, values="minus_inf", scale=30.0),
    Case(B=2, H=3, Sq=30, Sk=40, D=32, causal=True, layout=BSHD),
    Case(B=1, H=3, Sq=130, Sk=63, D=80, causal=False, layout=BSHD, dtype=HALF),
    Case(B=2, H=3, Sq=30, Sk=41, D=32, causal=False, layout=BSHD, q_layout="contiguous"),
    Case(B=2, H=2, Sq=30, Sk=40, D=48, causal=True, layout="transposed"),
    Case(B=2, H=2, Sq=30, Sk=40, D=48, causal=True, layout="sliced", dtype=HALF),
    Case(B=2, H=2, Sq=30, Sk=40, D=64, causal=False, layout="padded", k_layout="columns", dtype=HALF),
    Case(B=2, H=2, Sq=30, Sk=40, D=48, causal=False, layout="strided"),
    Case(B=2, H=2, Sq=30, Sk=40, D=50, causal=True, layout="offset", dtype=HALF),
    Case(B=3, H=2, Sq=30, Sk=40, D=32, causal=True, layout="expanded", q_layout="contiguous"),
    Case(B=1, H=2, Sq=20, Sk=50, D=24, causal=True, values="large"),
    Case(B=1, H=2, Sq=20, Sk=50, D=24, causal=False, values="heavy"),
    Case(B=1, H=2, Sq=20, Sk=50, D=24, causal=True, values="heavy", scale=-1.0),
    Case(B=1, H=2, Sq=20, Sk=50, D=24, causal=False, values="constant"),
    # Scores around -500 and -40,000, and raw ones that fp16 does not hold.
    Case(B=1, H=2, Sq=8, Sk=256, D=24, causal=False, values="negative", k_values="constant", scale=4.0),
    Case(B=1, H=2, Sq=8, Sk=256, D=24, causal=False, values="negative", k_values="constant", scale=300.0),
    Case(B=1, H=2, Sq=20, Sk=50, D=24, causal=True, values="large", scale=1e-8, dtype=HALF),
    Case(B=1, H=2, Sq=20, Sk=50, D=24, causal=True, values="integers"),
    Case(B=1, H=2, Sq=20, Sk=50, D=24, causal=False, values="spike"),
    Case(B=1, H=2, Sq=20, Sk=50, D=24, causal=True, values="nan"),
    Case(B=2, H=2, Sq=20, Sk=33, D=24, causal=True, calls=2),
    Case(B=300, H=256, Sq=1, Sk=20, D=16, causal=False, gpu=True, demand="grid_axes"),
    Case(B=2, H=16, Sq=2000, Sk=3001, D=128, causal=True, dtype=HALF, gpu=True),
    Case(B=256, H=300, Sq=1, Sk=20, D=16, causal=False, huge=True),
    Case(B=1, H=20, Sq=2**20 + 5, Sk=2**20 + 5, D=128, causal=True, dtype=HALF, huge=True),
    Case(B=20, H=1, Sq=2**20 + 5, Sk=2**20 + 5, D=128, causal=False, dtype=HALF, huge=True),
    Case(B=1, H=20, Sq=2**20 + 5, Sk=2**20 + 5, D=128, causal=False, layout=BSHD, dtype=HALF, huge=True),
    Case(B=1, H=1, Sq=2100, Sk=2100, D=16, causal=False, layout="far", dtype=HALF, huge=True),
]

challenge = Challenge(
    entry="attention_lse",
    inputs=inputs,
    reference=attention_lse,
    returns=torch.float32,
    suspects=SUSPECTS,
    shown=Case(B=2, H=1, Sq=65, Sk=65, D=64, causal=True),
    cases=CASES,
    # 2.5 MiB of scores in fp16; as much as q, 0.07 MiB, is forgiven.
    memory=Memory(
        Case(B=1, H=1, Sq=1600, Sk=1600, D=32, causal=True, dtype=HALF),
        extra=lambda q, k, scale, causal: q.nbytes,
    ),
)
