"""A loop carries its sums and maxima along; what is set once and read in it need be none."""

from __future__ import annotations

import pytest
import torch

from grader.challenge import Case
from grader.judge.case.compare import Finding
from grader.judge.diagnosis.carried import made_anew, not_carried
from grader.judge.diagnosis.evidence import Evidence
from tests.judge.tried import tried

LOOP = """
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    kept = {start}
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + start + tl.arange(0, BLOCK))
        new = tl.max(x, axis=0)
        {step}
    tl.store(y_ptr, kept)
"""
ZERO, LOWEST = "tl.zeros((BLOCK,), tl.float32)", "tl.full((1,), -float('inf'), tl.float32)"
STUCK = "no turn of the loop sets kept: it stays what line 4 made it. Keep it: kept = "


def told(start: str, step: str) -> str:
    trial = tried(Case(n=8), (torch.randn(8),), lambda x: x, lambda x: 2 * x)
    evidence = Evidence(source=LOOP.format(start=start, step=step))
    for rule in (not_carried, made_anew):
        if found := rule(trial, Finding("values", ""), evidence):
            return found[0]
    return ""


@pytest.mark.parametrize(
    ("start", "step", "cure"),
    [
        (LOWEST, "top = tl.maximum(kept, new)", "top"),
        (ZERO, "top = tl.maximum(kept, tl.max(x, axis=0))", "top"),
        (ZERO, "total = kept * 2 + tl.sum(x, axis=0)", "total"),
        (ZERO, "tl.dot(x, x, kept)", "tl.dot(x, x, kept)"),
        ("0.0", "kept + tl.sum(x)", "kept + tl.sum(x)"),
    ],
)
def test_what_no_turn_sets_is_told(start: str, step: str, cure: str) -> None:
    assert told(start, step).endswith(f"{STUCK}{cure}.")


@pytest.mark.parametrize("step", ["kept = new", "kept = tl.sum(x, axis=0)", "kept = tl.dot(x, x)"])
def test_what_each_turn_makes_anew_is_told(step: str) -> None:
    assert told(ZERO, step).startswith("Each turn of the loop sets kept to ")


@pytest.mark.parametrize(
    ("start", "step"),
    [
        (ZERO, "x = tl.maximum(x, kept)"),  # a ReLU
        ("0", "offs = kept + start"),
        (ZERO, "kept += new"),
        (LOWEST, "both = tl.maximum(kept, new); kept = both"),
        (ZERO, "kept = tl.where(new > 0, new, kept)"),
        (ZERO, "kept = x"),  # the last block, as it was loaded
        ("tl.load(x_ptr)", "total = kept + new"),
        (LOWEST, "if new > kept: kept = new"),
    ],
)
def test_what_is_carried_or_need_not_be_is_left(start: str, step: str) -> None:
    assert told(start, step) == ""
