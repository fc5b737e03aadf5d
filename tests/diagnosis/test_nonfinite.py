"""The steps that made a NaN or an Inf are told as they were, and a sentence about others is not."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from grader.challenge import Case
from grader.challenge.harness.trial import Trial
from grader.diagnosis.nonfinite import denied
from grader.kernel.traced_step import Step
from tests.judge.tried import told, tried

INF, NAN = math.inf, math.nan
KERNEL = """import triton
@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr, mask=mask, other=-float("inf"))
    m = tl.full((4,), -float("inf"), tl.float32)
    m_new = tl.maximum(m, tl.max(x))
    l = tl.sum(tl.exp(m - m_new))
    y = tl.dot(x, w)
    tl.store(y_ptr, y / l)
"""
LOAD, FULL, EXP, DOT, STORE = 4, 5, 7, 8, 9
OTHER = Step(LOAD, "constant", "fp32", [], -INF)


def nan(*made: Step, values: str = "normal", x: torch.Tensor | None = None, result: float = NAN) -> Trial:
    given = torch.randn(8, 12) if x is None else x
    trial = tried(Case(values=values), (given,), lambda a: torch.ones(8), lambda a: torch.full((8,), result))
    return replace(trial, made=list(made))


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (
            [Step(STORE, "divf", "fp32", [INF, INF], NAN, [1]), Step(EXP, "exp", "fp32", [103.25], INF)],
            "On line 7 exp(103.2) is Inf, and on line 9 Inf / Inf is NaN. Keep exponents from being positive",
        ),
        (
            [Step(STORE, "divf", "fp32", [0.0, 0.0], NAN)],
            "On line 9 0 / 0 is NaN. What is divided by, or",
        ),
        (
            [Step(EXP, "subf", "fp32", [-INF, -INF], NAN, [1]), Step(FULL, "constant", "fp32", [], -INF)],
            "On line 7 (-inf) - (-inf) is NaN. Where the maximum is -inf, subtract a finite number.",
        ),
        (
            [Step(DOT, "dot", "fp32", [0.5, -INF, 0.0], NAN, [1]), OTHER],
            "On line 8 0.5 · (-inf), in the tl.dot",
        ),
        (
            [Step(STORE, "truncf", "fp16", [81234.0], INF)],
            "On line 9 81234 becomes Inf in fp16, which ends at 65504. Compute in fp32",
        ),
        (
            [Step(DOT, "reduce", "fp16", [60000.0, 60000.0], INF)],
            "On line 8 a sum is Inf in fp16, which ends at 65504. Compute in fp32",
        ),
        (
            [Step(STORE, "rsqrt", "fp32", [-0.25], NAN)],
            "On line 9 rsqrt(-0.25) is NaN. What a root is taken of",
        ),
        (
            [Step(STORE, "mulf", "fp32", [0.0, INF], NAN, [1]), Step(STORE, "rsqrt", "fp32", [0.0], INF)],
            "On line 9 rsqrt(0) is Inf, and 0 · Inf is NaN. What is divided by",
        ),
        ([OTHER], "At [0] the result is -inf where 1 is right"),
    ],
)
def test_the_step_is_told_with_its_numbers_its_line_and_what_mends_it(made: list[Step], says: str) -> None:
    assert says in told(nan(*made, result=made[0].result), source=KERNEL)


def test_an_input_that_holds_inf_is_named_and_a_gap_beside_it_is_no_element() -> None:
    x = torch.full((8, 16), INF)[:, :12]
    product = Step(STORE, "mulf", "fp32", [0.0, INF], NAN, [1])
    inside, gap = (Step(LOAD, "load", "fp32", [], INF, [], "a", 4 * at) for at in (11, 12))
    assert "On line 9 0 · Inf is NaN, and a holds Inf there. Leave out" in told(
        nan(product, inside, x=x), source=KERNEL
    )
    assert "Line 4 loads from a gap between the elements of a" in told(nan(product, gap, x=x), source=KERNEL)


def test_memory_that_nobody_wrote_is_named_by_the_line_that_loads_it() -> None:
    loaded = Step(LOAD, "load", "fp32", [], NAN, [], "the tensor from torch.empty_like", 0)
    said = "line 4 loads it from the tensor from torch.empty_like, where no kernel wrote"
    assert said in told(nan(loaded), source=KERNEL)


@pytest.mark.parametrize(
    ("sentence", "step", "is_denied"),
    [
        (
            "Rows that see no key are NaN: acc / l_i is 0 / 0.",
            Step(9, "divf", "fp32", [0.0, 0.0], NAN),
            False,
        ),
        ("Both do: (-inf) - (-inf) is NaN.", Step(9, "divf", "fp32", [0.0, 0.0], NAN), True),
        ("Yours gives NaN: -inf - (-inf), or 0 / 0.", Step(9, "divf", "fp32", [0.0, 0.0], NAN), False),
        ("At p = 1 the scale is Inf, and 0 · Inf is NaN.", Step(9, "subf", "fp32", [INF, INF], NAN), True),
        (
            "Hidden weights are multiplied by 0, and Inf · 0 is NaN.",
            Step(9, "dot", "fp32", [INF, 0.0], NAN),
            False,
        ),
        ("The rows are shifted by one.", Step(9, "subf", "fp32", [INF, INF], NAN), False),
    ],
)
def test_a_sentence_about_other_arithmetic_is_denied(sentence: str, step: Step, is_denied: bool) -> None:
    assert denied(sentence, [step]) == is_denied
    assert not denied(sentence, []), "nothing was seen"


def test_where_no_step_was_seen_none_is_told() -> None:
    assert told(nan(), source="x = 1").startswith("At [0] the result is nan where 1 is right")
