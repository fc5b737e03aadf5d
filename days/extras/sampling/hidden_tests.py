"""Extra: a token for each row, drawn from softmax(logits / temperature) by its own random numbers."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Frequencies, Memory, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import ODDS, SUSPECTS, odds, relations

# tl.rand gives 0.0 for this seed and offset 178, the first of the four numbers that tl.rand4x has there.
ZERO, OFFSET = 2850057, 178


def inputs(case: Case, draw) -> tuple[Tensor, float, int]:
    """logits, the temperature `t` and a seed of 31 bits.

    All rows are equal where the case has a `step` (each logit so much below the one before) or a `lead` (one
    column so far above the others), or says so. `shift` moves the logits; column `low` is at -60. All but the
    column `only`, and one so far below it that it never comes, are -inf; or all but two so far `apart`.
    """
    logits = draw(case.m, case.v)
    if "equal" in case:
        logits.copy_(logits[:1].clone().expand_as(logits))
    if "step" in case:
        logits.copy_(-case.step * torch.arange(case.v, device=logits.device).expand_as(logits))
    if "lead" in case:
        logits.zero_()
        logits[:, case.v // 3] = case.lead
    if "shift" in case:
        logits += case.shift
    if "low" in case:
        logits[:, case.low] = -60.0
    if "only" in case:
        logits[:, torch.arange(case.v) != case.only] = -math.inf
        logits[:, (case.only + 1) % case.v] = logits[:, case.only] - 60.0
    if "apart" in case:
        logits[:, [n for n in range(case.v - 1) if n != case.v - 1 - case.apart]] = -math.inf
    return logits, case.t, case.get("seed", draw.integer(0, 2**31))


def reference(logits: Tensor, temperature: float, seed: int) -> Tensor:
    """The likeliest id: the first of the largest logits."""
    return logits.argmax(dim=1)


def drawn(logits: Tensor, temperature: float, seed: int) -> Tensor:
    """As one draws with torch: of exponential times over weights the first; by torch's numbers."""
    weights = torch.softmax(logits / temperature, dim=1)
    return (weights / torch.empty_like(weights).exponential_()).argmax(dim=1)


wide = Case(m=256, v=131_072, t=0.8, gpu=True)

CASES = [
    # At a temperature of 0 there is one right answer.
    Case(m=3, v=8, t=0.0),
    Case(m=1, v=1, t=0.0),
    Case(m=0, v=8, t=0.0),
    Case(m=5, v=7, t=0.0),
    Case(m=between(66, 79), v=between(18, 31), t=0.0),
    Case(m=4, v=255, t=0.0),
    Case(m=4, v=257, t=0.0),
    Case(m=3, v=1023, t=0.0),
    Case(m=3, v=1025, t=0.0),
    Case(m=12, v=9001, t=0.0),
    Case(m=2, v=40_000, t=0.0),
    Case(m=9, v=500, t=0.0, dtype=HALF),
    Case(m=200, v=500, t=0.0, dtype=BRAIN),  # so coarse that the largest logit of some row comes twice
    Case(m=9, v=70, t=0.0, layout="sliced"),
    Case(m=9, v=72, t=0.0, layout="padded", dtype=HALF),
    Case(m=9, v=70, t=0.0, layout="offset"),
    Case(m=9, v=70, t=0.0, layout="expanded"),
    Case(m=5, v=700, t=0.0, values="ties"),
    Case(m=3, v=9001, t=0.0, values="ties"),
    Case(m=5, v=700, t=0.0, values="constant"),
    Case(m=3, v=9001, t=0.0, values="constant"),
    Case(m=30, v=20, t=0.0, values="signed_zeros", demand="extreme_inputs"),
    Case(m=5, v=700, t=0.0, values="rising"),
    Case(m=5, v=9001, t=0.0, values="spike"),
    Case(m=5, v=700, t=0.0, values="negative", shift=-120.0),
    Case(m=5, v=9001, t=0.0, values="negative", shift=-1e4),
    Case(m=3, v=700, t=0.0, values="negative", shift=-1e30),
    Case(m=5, v=700, t=0.0, values="large"),
    Case(m=5, v=700, t=0.0, values="some_minus_inf", demand="values"),
    Case(m=5, v=700, t=0.0, only=699),
    Case(m=9, v=70, t=0.0, calls=2),
    # Above it, any that is possible; and of equal rows, as often as it should be.
    Case(m=1, v=1, t=1.0),
    Case(m=0, v=8, t=1.0),
    # The smallest that can fail: here the wrong odds that we know differ most from one another.
    Case(m=600, v=12, t=2.0, step=0.5),
    Case(m=400, v=20, t=0.5, step=0.35),
    Case(m=400, v=20, t=1.0, step=0.5),
    Case(m=1400, v=257, t=1.0, lead=5.545),
    Case(m=300, v=257, t=0.25, lead=1.386),
    Case(m=200, v=40, t=1e-3, step=1e-3),
    Case(m=between(195, 220), v=40, t=1e4),
    Case(m=128, v=2050, t=1.0, lead=0.0),
    Case(m=100, v=3, t=1.0, lead=0.0),
    # Whoever draws the same numbers for each block of a row never takes the second of these two.
    Case(m=150, v=16_390, t=1.0, lead=0.0, apart=16_384),
    Case(m=10, v=800, t=1.0, seed=ZERO, only=OFFSET),
    Case(m=10, v=800, t=1.0, seed=ZERO, only=4 * OFFSET),
    Case(m=10, v=800, t=1.0, seed=ZERO, lead=0.0, low=OFFSET),
    Case(m=10, v=800, t=1.0, seed=ZERO, lead=0.0, low=4 * OFFSET),
    Case(m=3, v=800, t=1.0, seed=0),
    Case(m=3, v=800, t=1.0, seed=2**62 + 1),
    Case(m=100, v=80, t=1.0, equal=True, dtype=HALF),
    Case(m=100, v=80, t=1.0, equal=True, dtype=BRAIN),
    Case(m=100, v=80, t=1.0, equal=True, layout="sliced"),
    Case(m=100, v=80, t=1.0, layout="expanded"),
    Case(m=100, v=80, t=0.7, equal=True, values="negative", shift=-120.0),
    Case(m=100, v=80, t=1.0, equal=True, values="some_minus_inf", demand="values"),
    Case(m=60, v=700, t=1.0, values="some_minus_inf", demand="values"),
    Case(m=60, v=700, t=1.0, only=3),
    Case(m=60, v=1025, t=0.1, values="large"),
    Case(m=9, v=70, t=1.0, calls=2),
    Case(m=20_000, v=12, t=2.0, step=1.0, gpu=True),
    Case(m=20_000, v=1000, t=1.0, lead=6.9, gpu=True),
    Case(m=500, v=131_072, t=1.0, lead=11.78, dtype=BRAIN, gpu=True),
    Case(m=16_401, v=262_144, t=1.0, dtype=BRAIN, huge=True),
    Case(m=70_001, v=1027, t=1.0, dtype=BRAIN, huge=True),
    Case(m=2100, v=70, t=1.0, layout="far", dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(m=1101, v=5, t=0.0),
]

challenge = Challenge(
    entry="sample",
    inputs=inputs,
    reference=reference,
    frequencies=Frequencies(of=odds, suspects=ODDS),
    rowwise=True,
    no_host_reads=True,
    relations=relations(Case(m=60, v=64, t=1.0, lead=0.0)),
    suspects=SUSPECTS,
    shown=Case(m=4, v=255, t=0.0),
    cases=CASES,
    speed=Speed(wide, moved=lambda logits, *_: logits.nbytes, torch=drawn, of_copy=0.18),
    # A score and a column of each 256, for whoever cuts rows into parts; noise would be 64 times as much.
    memory=Memory(wide, extra=lambda logits, *_: logits.numel() // 256 * 16),
)
