"""Day 34: the gradients of attention from two loops, at 0.4 of the speed of torch's flash attention."""

from __future__ import annotations

import math

import torch

from grader.challenge import Case, Challenge, Memory, Piece, Speed, between
from grader.challenge.formulas.attention import by_head, scores, weigh
from grader.challenge.formulas.attention_backward import Backward
from grader.challenge.formulas.draw_one_input import holding
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.qkv_layouts import at, heads
from grader.challenge.formulas.sdpa import flash_backward

from .suspects import SUSPECTS


@by_head
def forward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, last: int | None) -> tuple:
    """o and lse in float64; in float32 where that would take long."""
    wide = torch.float64 if len(q) * len(k) < 1 << 20 else torch.float32
    return weigh(scores(q.to(wide), k.to(wide), scale, last), v.to(wide))


def inputs(case: Case, draw) -> tuple:
    """q, k, v, o, lse, do, scale and causal.

    o and lse are those of a forward pass over these keys and values, or with `more_keys` over others too, as
    when keys are spread over several GPUs: then a row of one key has more than rounding errors to show.
    `lift` is added to every key, `rise` subtracted once for each key that comes before it: with negative
    queries, the one makes all scores fall, the other makes them rise along the keys. `order` says how inputs
    lie in memory: bshd as [B, S, H, D].
    """
    q, do, o = (heads(case, draw, which, case.H, case.Sq) for which in ("q", "do", "o"))
    k, v = (heads(case, draw, which, case.H, case.Sk) for which in ("k", "v"))
    if "lift" in case or "rise" in case:
        k += case.get("lift", 0.0) - case.get("rise", 0.0) * torch.arange(case.Sk, device=k.device)[:, None]
    scale = case.get("scale", case.D**-0.5)
    if case.huge:  # where no value is looked at
        return q, k, v, o, draw(case.B, case.H, case.Sq, dtype=torch.float32), do, scale, case.causal
    known = forward(q, k, v, scale, case.causal)
    lse = holding(draw, known[1])
    if "more_keys" in case:
        lse += math.log(2)
        o.copy_((o + known[0]) / 2)
    else:
        o.copy_(known[0])
    return q, k, v, o, lse, do, scale, case.causal


# With these, all of ds has one sign: its sums show no more of the rounding than its elements.
one_sign = {
    "more_keys": True,
    "q_values": "negative",
    "o_values": "negative",
    "do_values": "negative",
    "dtype": HALF,
}
big = at(4096, 4096, 128, True, B=4, H=16, dtype=HALF)

CASES = [
    at(16, 16, 16),
    at(2, 2, 16, more_keys=True, dtype=HALF),
    at(0, 5, 16),
    at(4, 0, 16),
    at(5, 3, 16, more_keys=True),
    at(31, 33, 32),
    at(64, 64, 64),
    at(96, 96, 32, H=1),
    at(48, 80, 32, True, H=1),
    at(between(33, 47), between(130, 143), 80, H=1),
    at(130, 70, 96, H=1),
    at(140, 20, 16, B=2),
    at(2, 2, 16, True, more_keys=True, dtype=HALF),
    at(65, 65, 32, True, more_keys=True, dtype=HALF),
    at(2, 77, 64, True, dtype=HALF),
    at(between(18, 31), between(98, 111), 80, True, H=1),
    at(70, 20, 32, True, more_keys=True, dtype=HALF),
    at(70, 20, 32, True),
    at(129, 200, 128, True, H=1),
    at(200, 129, 16, True, H=1, more_keys=True, dtype=HALF),
    at(300, 300, 16, True, H=1, more_keys=True, dtype=HALF),
    at(20, 50, 32, B=2, H=3),
    at(40, 64, 64, True, B=2, dtype=HALF),
    at(64, 128, 64, dtype=HALF),
    at(70, 150, 128, True, H=1, dtype=HALF),
    at(150, 70, 80, True, H=1, more_keys=True, dtype=HALF),
    at(140, 140, 96, dtype=BRAIN, H=1),
    at(90, 40, 32, True, dtype=BRAIN, H=1, more_keys=True),
    at(20, 60, 16, scale=0.5, dtype=HALF),
    at(20, 60, 32, True, scale=-0.4, demand="extreme_inputs"),
    at(20, 60, 32, True, scale=0.0, demand="extreme_inputs"),
    at(20, 40, 32, order="bshd", B=2),
    at(30, 50, 32, k_order="bshd", v_order="hsbd", do_order="sbhd", B=3),
    at(40, 60, 64, True, order="bshd", dtype=BRAIN, B=2, H=1),
    at(40, 70, 80, True, H=1, layout="sliced"),
    # Query 63 sees key 64: the last of a tile of queries, the first of a tile of keys.
    at(128, 129, 64, True, H=1, layout="offset", dtype=HALF),
    at(40, 70, 64, layout="padded", dtype=HALF),
    at(30, 40, 32, B=2, layout="expanded", o_layout="contiguous"),
    at(30, 40, 32, True, B=2, H=1, do_layout="expanded", dtype=HALF),
    at(30, 40, 32, True, do_layout="scalar"),
    at(30, 40, 64, do_layout="scalar", dtype=HALF),
    at(30, 40, 32, o_order="sbhd", do_order="bhds", B=2, dtype=HALF),
    # Hidden scores so far above lse that their exp is Inf, and lse so far below 0 that exp(0 - lse) is.
    at(60, 140, 32, True, H=1, lift=14.0, rise=0.17, **one_sign),
    at(30, 130, 32, H=1, lift=12.0, **one_sign),
    at(20, 1500, 64, H=1, **one_sign),
    at(1500, 20, 64, H=1, **one_sign),
    at(30, 50, 32, values="heavy", scale=0.02, more_keys=True, dtype=HALF),
    at(30, 50, 32, q_values="large", k_values="large", scale=1e-8, dtype=BRAIN),
    at(20, 50, 32, do_values="nan"),
    at(50, 60, 32, True, calls=2),
    at(1, 20, 16, B=256, H=300, huge=True),
    at(2**20 + 5, 2**20 + 5, 128, True, H=20, dtype=HALF, huge=True),
    at(2**20 + 5, 2**20 + 5, 128, B=20, H=1, dtype=HALF, huge=True),
    at(2**20 + 5, 2**20 + 5, 128, H=20, order="bshd", dtype=HALF, huge=True),
    at(2100, 2100, 16, True, H=1, layout="far", dtype=HALF, huge=True),
]

challenge = Challenge(
    entry="flash_backward",
    inputs=inputs,
    reference=by_head(Backward()),
    suspects=SUSPECTS,
    pieces=(  # the results are dq, dk and dv
        Piece("dscores", "dscores"),
        Piece("dv", "dkdv_kernel", results=(2,)),
        Piece("dk", "dkdv_kernel", results=(1,)),
        Piece("dq", "dq_kernel", results=(0,)),
        Piece("launches", "flash_backward"),
    ),
    cases=CASES,
    speed=Speed(
        big,
        # delta reads o and do; each loop reads q, do, k and v, and writes what it owns.
        moved=lambda q, k, v, o, lse, do, scale, causal: 7 * q.nbytes + 6 * k.nbytes,
        flops=lambda q, k, v, o, lse, do, scale, causal: 5 * q.numel() * k.shape[2],
        of_torch=0.4,
        torch=flash_backward,
        # do alone: with other queries or keys, lse would not be theirs.
        rolled=(5,),
    ),
    # Room for a few numbers a query, and for dq in fp32; the scores would be 22 times as much as q.
    memory=Memory(at(1600, 1600, 16, H=1), extra=lambda q, *_: 4 * q.nbytes),
)
