"""Day 32: attention and its log-sum-exp in one kernel, at 0.4 of the speed of torch's flash attention."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.attention import by_head, forward
from grader.challenge.formulas.attention_suspects import SUSPECTS
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.qkv_layouts import at, heads, sunk
from grader.challenge.formulas.sdpa import flash


def inputs(case: Case, draw) -> tuple:
    """q, k, v, scale and causal.

    `lift` is added to every key, `rise` once more for each key that comes before it; with negative queries,
    both make scores fall. `sink` makes an attention sink of the first key: its scores are so large, and all
    others are 0. `order` says how q, k and v lie in memory: bshd as [B, S, H, D], bhsd_hbsd each of them so.
    """
    q = heads(case, draw, "q", case.H, case.Sq)
    k, v = (heads(case, draw, which, case.H, case.Sk) for which in ("k", "v"))
    if "lift" in case or "rise" in case:
        k += case.get("lift", 0.0) + case.get("rise", 0.0) * torch.arange(case.Sk, device=k.device)[:, None]
    if "sink" in case:
        sunk(q, k, v, case.sink, case.D**-0.5)
    return q, k, v, case.get("scale", case.D**-0.5), case.causal


big = at(4096, 4096, 128, True, B=4, H=16, dtype=HALF)

CASES = [
    at(16, 16, 16),
    at(1, 1, 16),
    at(0, 5, 16),
    at(4, 0, 16),
    at(5, 3, 16),
    at(31, 33, 32),
    at(64, 64, 64),
    at(96, 96, 64, dtype=HALF),
    at(96, 96, 32, True, H=1),
    at(48, 80, 32),
    at(between(33, 47), between(130, 143), 72, H=1),
    at(17, 70, 96),
    at(40, 130, 128, H=1),
    at(130, 20, 16, B=2),
    at(1, 1, 16, True),
    at(65, 65, 32, True),
    # The last query of a full tile sees the first key of a tile, and no other of it.
    at(128, 129, 32, True, H=1),
    at(1, 77, 64, True),
    at(between(18, 31), between(98, 111), 80, True, H=1),
    at(70, 20, 32, True),
    at(129, 200, 128, True, H=1),
    at(300, 300, 16, True, H=1),
    at(20, 50, 32, B=2),
    at(50, 64, 64, True, B=2, H=3, dtype=HALF),
    at(64, 128, 64, dtype=HALF),
    at(70, 150, 128, True, H=1, dtype=HALF),
    at(150, 70, 80, True, H=1, dtype=HALF),
    at(40, 60, 64, scale=0.5, dtype=HALF),
    at(40, 90, 96, dtype=BRAIN),
    at(129, 129, 32, True, H=1, dtype=BRAIN),
    at(20, 60, 32, scale=1.0),
    at(20, 60, 32, True, scale=-0.4),
    at(20, 60, 32, True, scale=0.0),
    at(20, 40, 32, order="bshd", B=2),
    at(40, 40, 64, True, order="bshd", B=2, H=3, dtype=HALF),
    at(30, 50, 32, order="bhsd_bshd_hsbd", B=3),
    at(40, 60, 64, order="hbsd_sbhd_bshd", dtype=BRAIN, layout="sliced"),
    at(40, 70, 80, True, H=1, layout="sliced"),
    at(40, 70, 64, layout="offset", dtype=HALF),
    at(40, 70, 64, layout="padded", dtype=HALF),
    at(30, 40, 32, layout="expanded", B=2),
    at(30, 40, 32, True, layout="expanded", order="bhsd_hbsd", dtype=HALF),
    at(30, 200, 32, values="negative", k_values="normal", v_values="normal", rise=-0.02, scale=0.1),
    at(30, 200, 32, values="negative", k_values="normal", v_values="normal", rise=0.02, scale=0.1),
    at(200, 200, 32, True, H=1, values="rising", q_values="negative", rise=-0.02, dtype=HALF),
    at(30, 200, 32, values="negative", lift=25.0, dtype=HALF),
    at(3, 2048, 64, H=1, sink=13.46, dtype=HALF),
    at(30, 50, 32, values="spike", v_values="normal", dtype=HALF),
    at(30, 50, 32, values="large", scale=1e-8),
    at(30, 50, 32, values="large", scale=1e-7, dtype=HALF),
    at(60, 90, 64, True, values="heavy", scale=1.0, dtype=HALF),
    at(60, 90, 64, True, values="heavy", scale=-1.0, dtype=BRAIN),
    at(20, 50, 32, values="constant", v_values="normal", scale=0.02),
    at(20, 50, 32, values="nan", k_values="normal", v_values="normal"),
    at(50, 60, 32, True, calls=2),
    at(2**20 + 5, 2**20 + 5, 128, True, H=20, dtype=HALF, huge=True),
    at(2**20 + 5, 2**20 + 5, 128, B=20, H=1, dtype=HALF, huge=True),
    at(2**20 + 5, 2**20 + 5, 128, H=20, order="bshd", dtype=HALF, huge=True),
    at(2100, 2100, 16, True, H=1, layout="far", dtype=HALF, huge=True),
]

challenge = Challenge(
    entry="flash_forward",
    inputs=inputs,
    reference=by_head(forward),
    suspects=SUSPECTS,
    shown=at(300, 300, 16, True, H=1),
    cases=CASES,
    speed=Speed(
        big,
        moved=lambda q, k, v, scale, causal: 2 * q.nbytes + k.nbytes + v.nbytes,
        flops=lambda q, k, v, scale, causal: 2 * q.numel() * k.shape[2],
        of_torch=0.4,
        torch=flash,
    ),
    # Room for a few more numbers a query; the scores would be 45 times as much as q.
    memory=Memory(at(1600, 1600, 16, H=1), extra=lambda q, k, v, scale, causal: 4 * q.nbytes),
)
