"""Extra: the gradients of attention from one walk over the queries; as fast as torch's flash attention."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.attention import by_head, scores, weigh
from grader.challenge.formulas.draw_one_input import holding
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.qkv_layouts import heads
from grader.challenge.formulas.sdpa import flash_backward
from grader.datasheets import GPUS

from .suspects import SUSPECTS, gradients


def at(S: int, causal: bool = False, B: int = 1, H: int = 2, **more: Any) -> Case:
    """B × H heads of S queries and keys, D = 64."""
    return Case(gpu=True, **{"B": B, "H": H, "S": S, "D": 64, "causal": causal, "dtype": HALF, **more})


@by_head
def forward(q: Tensor, k: Tensor, v: Tensor, scale: float, last: int | None) -> tuple[Tensor, ...]:
    """o and lse in float64; in float32 where that would take long."""
    wide = torch.float64 if len(q) * len(k) < 1 << 20 else torch.float32
    return weigh(scores(q.to(wide), k.to(wide), scale, last), v.to(wide))


def inputs(case: Case, draw) -> tuple[Any, ...]:
    """q, k, v, o, lse, do and causal.

    `lift` is added to every key: with negative queries all scores fall. With `more_keys`, o and lse are those
    of a forward pass over other keys too, as when keys are spread over several GPUs. Then a row of one key
    has more than rounding errors to show.
    """
    q, k, v, do, o = (heads(case, draw, which, case.H, case.S) for which in ("q", "k", "v", "do", "o"))
    k += case.get("lift", 0.0)
    known = forward(q, k, v, case.D**-0.5, case.causal)
    lse = holding(draw, known[1])
    if "more_keys" in case:
        lse += math.log(2)
        o.copy_((o + known[0]) / 2)
    else:
        o.copy_(known[0])
    return q, k, v, o, lse, do, case.causal


def by_torch(
    q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, do: Tensor, causal: bool
) -> tuple[Tensor, ...]:
    """The backward pass alone of torch's flash attention."""
    return flash_backward(q, k, v, o, lse, do, q.shape[-1] ** -0.5, causal)


# With these, all of ds has one sign: its sums show no more of the rounding than its elements.
one_sign = {"more_keys": True, "q_values": "negative", "o_values": "negative", "do_values": "negative"}
big = at(8192, H=16)

CASES = [
    at(128),
    at(2, more_keys=True),
    at(3, True, dtype=BRAIN, more_keys=True),
    at(5, B=2, H=1, more_keys=True),
    at(63, True, more_keys=True),
    at(64, dtype=BRAIN),
    at(65),
    at(65, True, more_keys=True),
    at(127, True, dtype=BRAIN, more_keys=True),
    at(129),
    at(129, True, more_keys=True),
    at(191, True, more_keys=True),
    at(between(193, 250)),
    at(between(260, 370), True, B=2, H=3, more_keys=True),
    at(640, True, H=1, more_keys=True),
    at(1000, B=2, H=3, dtype=BRAIN),
    at(1000, True, B=2, H=3, more_keys=True),
    at(30, H=150),
    at(200, True, H=9, more_keys=True),
    at(150, True, values="constant", v_values="normal", do_values="normal", more_keys=True),
    # Scores so far below 0 that exp(0 - lse), of a key past the end, is Inf.
    at(90, lift=12.0, **one_sign),
    at(90, do_values="nan"),
    at(400, True, calls=2, more_keys=True),
]

challenge = Challenge(
    entry="flash_backward",
    inputs=inputs,
    reference=gradients,
    suspects=SUSPECTS,
    cases=CASES,
    targets={big: GPUS["h200"]},
    speed=Speed(
        big,
        # delta reads o and do; the walk reads q, k, v and do once, and dq goes through fp32.
        moved=lambda q, *_: 15 * q.nbytes,
        flops=lambda q, k, *_: 10 * q.numel() * k.shape[2],
        of_torch=1.0,
        torch=by_torch,
        # do alone: with other queries or keys, lse would not be theirs.
        rolled=(5,),
    ),
    # Room for dq in fp32, and for two numbers a query.
    memory=Memory(big, extra=lambda q, *_: 3 * q.nbytes),
    needs=(9, 0),
    later=False,  # wgmma is an instruction of Hopper alone
)
