"""A runner that gave no answer: what it was at, as far as that is known."""

from __future__ import annotations

import pytest

from grader.challenge import Case
from grader.challenge.cases.runner_client import RunnerLost
from grader.diagnosis.diagnose import diagnose
from grader.diagnosis.evidence import Evidence


@pytest.mark.parametrize(
    ("compiling", "says", "look_at"),
    [
        (True, "Triton is not done compiling what it launches", "the block sizes"),
        (False, "A loop that never ends", "loops, their steps"),
    ],
)
def test_a_compiler_that_does_not_get_done_is_no_endless_loop(
    compiling: bool, says: str, look_at: str
) -> None:
    lost = RunnerLost("timeout", "no answer after 60 s")
    lost.compiling = compiling
    sentence, place = diagnose(Evidence(lost=(Case(n=8), lost), source="x = 1\n"))
    assert sentence.startswith("Your code did not finish with n=8-fp32: no answer after 60 s")
    assert says in sentence
    assert place.startswith(look_at)
