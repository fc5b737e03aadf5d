"""A runner that gave no answer: what it was at, as far as that is known."""

from __future__ import annotations

import pytest

from grader.challenge import Case
from grader.challenge.harness.runner_client import RunnerLost
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


def test_what_ran_out_of_memory_is_no_endless_loop() -> None:
    reason = "no answer after 20 s, and by then it held 8.2 GiB of memory"
    lost = RunnerLost("timeout", reason, lines=(2,), starved=True)
    told = diagnose(Evidence(lost=(Case(n=8), lost), source="while True:\n    kept.append(0)\n"))
    assert told == (f"Your code ran out of memory with n=8-fp32: {reason}.", "line 2")
