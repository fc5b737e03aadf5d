"""Heads and matrices that nobody stored are named as wholes; and what backward() and a plain number lack."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from grader.answers import Launch
from grader.challenge import Case
from grader.judge.case.compare import Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.autograd import of_autograd
from tests.judge.tried import told, tried


def with_holes(holes: torch.Tensor, programs: int) -> Trial:
    """A trial whose output, called dk, has elements that nobody stored."""
    trial = tried(Case(n=8), (torch.ones(holes.shape),), torch.neg, torch.neg)
    index = holes.nonzero()[0].tolist()
    trial.findings = [Finding("unwritten", "some were never written", {"index": index, "at": "dk[…]"}, holes)]
    assert trial.answer is not None
    report = replace(trial.answer.report, launches=[Launch("k", [programs])])  # type: ignore[type-var]
    trial.answer = replace(trial.answer, report=report)
    return trial


def test_a_head_without_a_place_of_its_own_is_named() -> None:
    holes = torch.zeros(2, 3, 5, 4, dtype=torch.bool)
    holes[:, 1:] = True
    sentence = told(with_holes(holes, 6))
    assert sentence.startswith("dk[0, 1] and 3 more of 6 were never written, as a whole, though every launch")
    assert "does not tell them apart, or no program" in told(with_holes(holes, 2))


def test_the_last_heads_may_have_no_program_unless_two_are_known_to_store_to_one_place() -> None:
    holes = torch.zeros(2, 3, 5, 4, dtype=torch.bool)
    holes[1, 1:] = True
    trial = with_holes(holes, 6)
    assert "where a part takes several, these are too few, or the offset" in told(trial)
    trial.findings.append(Finding("race", "", {"kind": "store", "line": 3}, told=("A race.", "line 3")))
    assert "does not lead to a place of its own for each" in told(trial)


def test_holes_within_a_head_are_told_otherwise() -> None:
    holes = torch.zeros(2, 3, 5, 4, dtype=torch.bool)
    holes[:, :, 3:] = True
    assert "as a whole" not in told(with_holes(holes, 6))


SOURCE = """
class Drop(torch.autograd.Function):
    def forward(ctx, x, p):
        return x

    def backward(ctx, dy):
        {}
"""
COUNT = "function DropBackward returned an incorrect number of gradients (expected 2, got 1)"
NUMBER = "function DropBackward returned a gradient different than None at position 2, but the"
SHAPE = (
    "Function DropBackward returned an invalid gradient at index 0 - got [3] but expected shape compatible "
    "with [4]"
)


@pytest.mark.parametrize(
    ("message", "body", "says"),
    [
        (COUNT, "pass", "backward() returns nothing where 2 gradients are asked for"),
        (COUNT, "return dy", "backward() returns 1 value where 2 gradients are asked for"),
        (NUMBER, "return dy, dy", "backward() returns a gradient at place 2"),
        (
            SHAPE,
            "return dy[:3], None",
            "backward() returns at index 0 a gradient [3], and the argument is [4]",
        ),
    ],
)
def test_what_autograd_asks_for_is_told_with_the_line_of_backward(message: str, body: str, says: str) -> None:
    found = of_autograd(message, SOURCE.format(body))
    assert found is not None
    assert found[0].startswith(says)
    assert found[1] == "backward(), line 6"


def test_a_plain_number_is_no_element() -> None:
    trial = tried(Case(n=8), (torch.ones(2),), torch.neg, torch.neg)
    trial.findings = [Finding("scalar", "the result is None where 8 is right")]
    assert told(trial) == "f() returns None where 8 is right. Is the return missing?"
