"""When a grading begins to predict its bars."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from grader.challenge.loading import load_challenges
from grader.course import catalog
from grader.judge.failures import NotMeasured
from grader.judge.speed import predict_call


class Later:
    """Keeps what it is to do."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def submit(self, *asked: Any) -> Any:
        self.asked.append(asked)
        return len(self.asked)


def grading(device: str = "cpu", timed: bool = True, failed: tuple[int, ...] = ()) -> Any:
    challenges = load_challenges(catalog.find("11").hidden_tests)
    evidence = SimpleNamespace(failed=[*failed], lost=None)
    about = {
        "challenges": challenges,
        "device": device,
        "timed": timed,
        "stem": "day11",
        "evidence": evidence,
    }
    return SimpleNamespace(**about, background=Later(), foreseen={})


def test_every_bar_is_begun_in_the_background_without_a_gpu_alone() -> None:
    session = grading()
    predict_call.begin(session)
    assert len(session.foreseen) == len(session.background.asked) == 2
    for other in (grading("cuda"), grading(timed=False)):
        predict_call.begin(other)
        assert not other.foreseen


def test_once_a_case_has_failed_nothing_is_predicted() -> None:
    session = grading(failed=(1,))
    predict_call.begin(session)
    run, *given = session.background.asked[0]
    with pytest.raises(NotMeasured):
        run(*given)
