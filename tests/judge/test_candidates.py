"""A day whose entry is a test: right candidates pass, wrong ones are refused, and some may be missed."""

from __future__ import annotations

import pytest

from tests.made_up_day import Judged

HIDDEN = '''
KERNEL = """
import torch, triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, FACTOR * tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)

def double(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, len(x), BLOCK=16)
    return y
"""
factors = {"2": "", "2.5": "factors", "1": "factors", "-2": "signs", "2.0": ""}
CANDIDATES = [Candidate(KERNEL.replace("FACTOR", key), "double", wrong) for key, wrong in factors.items()]
challenge = Challenge(
    entry="is_right",
    inputs=lambda case, draw: (CANDIDATES[case.candidate],),
    reference=lambda candidate: not candidate.wrong,
    judges=Judges(missed=1),
    cases=[Case(candidate=number) for number in range(5)],
)
'''
TEST = """def is_right(candidate) -> bool:
    x = torch.randn(10)
    y = candidate(x)
    return WHAT
"""


@pytest.mark.parametrize(
    "what",
    [
        "torch.allclose(y, 2 * x)",
        "torch.testing.assert_close(y, 2 * x) is None",  # what raises is refused
        "torch.equal(y.abs(), 2 * x.abs())",  # -2 is missed, as one may be
    ],
)
def test_a_test_may_use_torch_raise_and_miss_so_many(judged: Judged, what: str) -> None:
    verdict = judged(HIDDEN, TEST.replace("WHAT", what))
    assert verdict.status == "passed", verdict.diagnosis


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("bool((y != x).any())", "what it does wrong has to do with signs"),
        ("False", "A right candidate is refused"),
        ("torch.equal(y, 3 * x)", "A right candidate is refused"),
        ("torch.tensor(True)", "The test returns Tensor where a bool is asked for."),
        ("None", "The test returns NoneType where a bool is asked for."),
        ("nobody", "nobody"),
    ],
)
def test_a_weak_test_and_a_strict_one_are_told_apart(judged: Judged, what: str, says: str) -> None:
    verdict = judged(HIDDEN, TEST.replace("WHAT", what))
    assert verdict.status == "failed"
    assert says in verdict.diagnosis


def test_candidates_are_called_one_after_another_in_one_process(judged: Judged) -> None:
    counting = "CALLS = []\n\n\n" + TEST.replace("WHAT", "CALLS.append(y) or len(CALLS) in (1, 5)")
    assert judged(HIDDEN, counting).status == "passed"
