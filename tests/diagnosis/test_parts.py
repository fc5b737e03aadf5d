"""What backward() and a plain number lack."""

from __future__ import annotations

import pytest
import torch

from grader.challenge import Case
from grader.challenge.harness.compare import Finding
from grader.diagnosis.exceptions import of_autograd
from tests.judge.tried import told, tried

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
        (NUMBER, "return dy, dy", NUMBER),
        (SHAPE, "return dy[:3], None", SHAPE),
    ],
)
def test_what_autograd_asks_for_is_told_with_the_line_of_the_return(
    message: str, body: str, says: str
) -> None:
    found = of_autograd(message, SOURCE.format(body))
    assert found is not None
    assert found[0].startswith(says)
    assert found[1] == ("backward(), line 6" if body == "pass" else "what backward() returns: line 7")


def test_a_plain_number_is_no_element() -> None:
    trial = tried(Case(n=8), (torch.ones(2),), torch.neg, torch.neg)
    trial.findings = [Finding("scalar", "the result is None where 8 is right")]
    assert told(trial) == "f() returns None where 8 is right. Is the return missing?"
