"""Day 33: two steps of attention's backward pass: delta, and the gradient of the scores."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, between
from grader.challenge.formulas.attention import diagonal, scores, weights
from grader.challenge.formulas.attention_backward import Backward, delta_of
from grader.challenge.formulas.draw_one_input import holding
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.qkv_layouts import at, heads

from .suspects import OF_DELTA, OF_DSCORES


def delta_inputs(case: Case, draw) -> tuple:
    """o and do; `order` says how they lie in memory: bshd as [B, S, H, D]."""
    return tuple(heads(case, draw, which, case.H, case.S) for which in ("o", "do"))


def inputs(case: Case, draw) -> tuple:
    """q, k, v, do, lse, delta, scale and causal.

    lse and delta are those of a forward pass over these keys and values. With `more_keys` they come from
    more keys than the kernel gets, as when keys are spread over several GPUs: a row of dS need not sum to 0.
    `order` says how inputs lie in memory: bshd as [B, S, H, D]. With `rise`, keys fall from first
    to last by that much each: with negative queries the scores rise.
    """
    q, do = (heads(case, draw, which, case.H, case.Sq) for which in ("q", "do"))
    k, v = (heads(case, draw, which, case.H, case.Sk) for which in ("k", "v"))
    if "rise" in case:
        k -= case.rise * (torch.arange(case.Sk, device=k.device)[:, None] - case.Sk // 2)
    scale = case.get("scale", case.D**-0.5)
    s = scores(q.double(), k.double(), scale, diagonal(q, k, case.causal))
    lse = torch.logsumexp(s, dim=-1)
    d = (weights(s, lse) * (do.double() @ v.double().mT)).sum(dim=-1)
    if "more_keys" in case:
        lse, d = lse + 0.7, d * 0.6 + 0.1
    return q, k, v, do, holding(draw, lse), holding(draw, d), scale, case.causal


def of_rows(S: int, D: int, B: int = 1, H: int = 2, **more) -> Case:
    """B × H heads of S queries."""
    return Case(B=B, H=H, S=S, D=D, **more)


def delta(o: torch.Tensor, do: torch.Tensor) -> torch.Tensor:
    wide = torch.promote_types(o.dtype, torch.float32)
    return delta_of(o.to(wide), do.to(wide))


def dscores(q, k, v, do, lse, delta, scale, causal) -> torch.Tensor:
    wide = torch.promote_types(q.dtype, torch.float32)
    q, k, v, do = (x.to(wide) for x in (q, k, v, do))
    return Backward().of_scores(q, k, v, do, lse, delta, scale, diagonal(q, k, causal))[1]


challenge = (
    Challenge(
        entry="delta",
        inputs=delta_inputs,
        reference=delta,
        suspects=OF_DELTA,
        shown=of_rows(65, 80),
        cases=[
            of_rows(1, 16),
            of_rows(0, 16),
            of_rows(3, 32),
            of_rows(32, 32),
            of_rows(63, 64),
            of_rows(96, 64),
            of_rows(48, 32),
            of_rows(64, 64),
            of_rows(65, 80),
            of_rows(between(17, 31), 96, B=2, H=3),
            of_rows(130, 128),
            of_rows(50, 64, dtype=HALF),
            of_rows(300, 32, dtype=HALF),
            of_rows(50, 80, dtype=BRAIN),
            of_rows(40, 32, order="bshd", B=2),
            of_rows(40, 32, o_order="sbhd", B=2, dtype=HALF),
            of_rows(40, 80, layout="sliced"),
            of_rows(40, 64, layout="offset", dtype=HALF),
            of_rows(40, 32, B=2, layout="expanded", o_layout="contiguous"),
            of_rows(40, 64, values="integers", exact=True, dtype=HALF),
            of_rows(40, 128, values="integers", exact=True),
            of_rows(40, 64, values="large", dtype=HALF),
            of_rows(40, 64, values="heavy"),
            of_rows(40, 64, values="nan", do_values="normal"),
            of_rows(40, 64, calls=2),
            of_rows(2**20 + 5, 128, H=20, dtype=HALF, huge=True),
            of_rows(2**20 + 5, 128, B=20, H=1, dtype=HALF, huge=True),
            of_rows(2**20 + 5, 128, H=20, order="bshd", dtype=HALF, huge=True),
        ],
    ),
    Challenge(
        entry="dscores",
        inputs=inputs,
        reference=dscores,
        suspects=OF_DSCORES,
        shown=at(140, 200, 16, True, H=1),
        cases=[
            at(16, 16, 16),
            at(1, 1, 16, more_keys=True),
            at(0, 5, 16),
            at(5, 3, 16, more_keys=True),
            at(31, 33, 32),
            at(64, 64, 64),
            at(between(33, 47), between(130, 143), 80, H=1),
            at(130, 20, 96, B=2),
            at(40, 130, 128, H=1),
            at(1, 1, 16, True, more_keys=True),
            at(16, 16, 32, True, more_keys=True),
            at(65, 65, 32, True, more_keys=True),
            at(1, 77, 64, True),
            at(30, 100, 80, True, H=1),
            at(70, 20, 32, True, more_keys=True),
            at(140, 200, 16, True, H=1),
            at(20, 50, 32, B=2, H=3),
            at(50, 64, 64, True, B=2, dtype=HALF),
            at(70, 150, 128, dtype=HALF, H=1),
            at(280, 150, 16, dtype=HALF, H=1),
            at(90, 40, 80, True, more_keys=True, dtype=BRAIN, H=1),
            at(20, 60, 32, scale=1.0, more_keys=True),
            at(20, 60, 32, True, scale=-0.4, demand="extreme_inputs"),
            at(30, 50, 32, more_keys=True),
            at(30, 50, 64, True, more_keys=True, dtype=HALF),
            at(20, 40, 32, order="bshd", B=2),
            at(30, 50, 32, k_order="bshd", v_order="hsbd", B=3),
            at(30, 50, 32, True, do_order="sbhd", B=2, dtype=HALF),
            at(40, 70, 80, True, layout="sliced"),
            at(40, 70, 64, layout="offset", dtype=HALF),
            at(30, 40, 32, B=2, layout="expanded", q_layout="contiguous"),
            at(30, 40, 32, B=2, do_layout="expanded"),
            at(60, 60, 16, True, values="rising", q_values="negative", rise=0.2, more_keys=True),
            at(30, 50, 32, values="heavy", scale=0.02, more_keys=True, dtype=HALF),
            at(30, 50, 32, values="large", scale=1e-8, more_keys=True, dtype=HALF),
            at(30, 50, 32, values="spike", v_values="normal", do_values="normal", scale=0.01, dtype=HALF),
            at(30, 50, 32, values="constant", v_values="normal", scale=0.02),
            at(20, 50, 32, do_values="nan", values="negative", more_keys=True),
            at(50, 60, 32, True, calls=2),
            at(9200, 9200, 16, H=32, dtype=HALF, huge=True),
            at(2**18 + 5, 2**14, 16, H=1, dtype=HALF, huge=True),
            at(2**20 + 5, 16, 128, B=20, H=1, dtype=HALF, huge=True),
            at(9, 2**20 + 5, 128, H=20, order="bshd", dtype=HALF, huge=True),
            at(2**20 + 5, 16, 128, H=20, order="bshd", dtype=HALF, huge=True),
        ],
    ),
)
