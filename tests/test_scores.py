"""Scores leave their exponents digits: a kernel is right whether its compiler fuses s · c − shift or not.

In fp32 the exponent is off by up to |s · c| · 2⁻²⁴, the weight by as much of itself; a multiply-add rounds
once where two operations round twice. A largest weight that is 1 only nearly is rounded to 16 bits, and the
sum that it is divided by is not. So either must lie well within the gate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from grader.challenge import Challenge
from grader.challenge.case import Case
from grader.challenge.formulas.attention import LOG2_E, diagonal, scores
from grader.challenge.harness.compare import gate
from grader.challenge.harness.trial import draw
from grader.challenge.loading import load_challenges
from grader.course import catalog

DAYS = (27, 28, 32, 33, 34, 35)  # 31 answers with the shift itself, 30 has no weights
LSE = {33: 4, 34: 4}  # the argument that is lse, on days that are handed one
LOWEST = -1e30  # instead of a shift of -inf, where no key is seen
SHARE = 0.5  # of the gate: what else a kernel rounds needs the rest


def rounded(x: Tensor) -> Tensor:
    return x.float().double()


def weights(s: Tensor, scale: float, lse: Tensor | None, hidden: Tensor) -> Iterator[Tensor]:
    """What fp32 kernels make of products q kᵀ: by exp and exp2, fused and not, below lse or the maximum."""
    for power, to in ((torch.exp, 1.0), (torch.exp2, LOG2_E)):
        factor = float(torch.tensor(scale * to, dtype=torch.float32))
        exact = (s * factor).masked_fill(hidden, -math.inf)
        shift = rounded(exact).amax(-1) if lse is None else rounded(lse * to)
        for scaled in (exact, rounded(exact)):
            yield power(rounded(scaled - shift.clamp(min=LOWEST)[..., None]))


def error(p: Tensor, exact: Tensor) -> float:
    """The largest relative error of a query's weights."""
    return float(((p - exact).norm(dim=-1) / exact.norm(dim=-1).clamp(min=1e-300)).nan_to_num(0.0).max())


@pytest.mark.parametrize("number", DAYS)
def test_fused_or_not_the_weights_are_right(number: int) -> None:
    for challenge in load_challenges(catalog.find(str(number)).hidden_tests):
        for case in challenge.cases:
            if case.get("Sq") and case.get("Sk") and case.get("B", 1) and not case.gpu:
                fused_or_not_they_are_right(number, challenge, case)


def fused_or_not_they_are_right(number: int, challenge: Challenge, case: Case) -> None:
    arguments = draw(challenge, case, 1, "cpu")
    scale, causal = arguments[-2:] if isinstance(arguments[-1], bool) else (arguments[-1], False)
    q, k = (x.double().nan_to_num(0.0) for x in arguments[:2])
    k = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
    last = diagonal(q, k, causal)
    right = scores(q, k, scale, last)
    lse = arguments[LSE[number]].double() if number in LSE else None
    shift = right.amax(-1) if lse is None else lse
    exact = torch.exp(right - shift.clamp(min=LOWEST)[..., None])
    products = rounded(q @ k.mT)
    dtype = torch.float32 if number == 33 else case.dtype  # what the day returns
    for p in weights(products, scale, lse, right == -math.inf):
        assert error(p, exact) <= SHARE * gate(dtype), case.id
