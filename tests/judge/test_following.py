"""The runner makes the next case's call while one is looked at, and checks keep their order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
import torch

from grader.challenge import Case, Challenge
from grader.challenge.cases.compare import Finding
from grader.challenge.cases.runner_client import RunnerLost
from grader.judge import pipelined_case
from grader.judge.out_of_order import Meanwhile
from grader.judge.pipelined_case import Following
from grader.request import Request
from grader.runner_answers import Failed, Fault

CASES = [Case(n=n) for n in (1, 2, 3, 4)]
CHALLENGE = Challenge("f", lambda case, draw: (torch.empty(case.n),), torch.clone, CASES)
REQUEST = Request("grade", Path(), Path(), Path(), b"", "cpu", 1, 20.0)
said: list[str] = []


class Attempt:
    """One that says when it is drawn, asked, read and judged; `wrong` by the size of its case."""

    wrong: ClassVar[dict[int, Any]] = {}

    def __init__(self, challenge: Challenge, case: Case, *_: Any) -> None:
        self.trial = SimpleNamespace(challenge=challenge, case=case, findings=[], passed=True, answer=None)
        self.asked: Any = None
        self.beside = True
        self.says("drawn")

    def says(self, what: str) -> None:
        said.append(f"{what} {self.trial.case.n}")

    def ask(self, runner: Any) -> None:
        self.says("asked")
        self.asked = runner

    def read(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        meanwhile()
        self.says("read")
        if self.wrong.get(self.trial.case.n) == "error":
            self.trial.answer = SimpleNamespace(
                report=Failed(Fault("exception", "RuntimeError", "", 0, "", []))
            )
        if isinstance(self.wrong.get(self.trial.case.n), Exception):
            raise self.wrong[self.trial.case.n]

    def judged(self) -> Any:
        self.says("judged")
        if kind := self.wrong.get(self.trial.case.n):
            self.trial.passed, self.trial.findings = False, [Finding(kind, "")]
        return self.trial


class Grading:
    """A session with a runner, by a number."""

    def __init__(self, pending: tuple[int, ...] = ()) -> None:
        self.runner: Any = 1
        self.request, self.names, self.ways = REQUEST, {"f": ["x"]}, set[Any]()
        self.evidence = SimpleNamespace(trials=[None], failed=[])
        self.asked = SimpleNamespace(cases=lambda g: [(CHALLENGE, c) for c in CASES if g == "correct"])
        self.ahead = SimpleNamespace(pending=lambda _, case: [None] if case.n in pending else [])
        self.meanwhile = Meanwhile(self)  # type: ignore[arg-type]
        self.following = Following(self, self.meanwhile)  # type: ignore[arg-type]

    def ready_runner(self) -> Any:
        self.following.settle()
        self.runner = self.runner or 2
        return self.runner

    def close(self) -> None:
        said.append("closed")
        self.runner = None

    def turn(self, case: Case) -> None:
        """As a session tries a case, and keeps it."""
        self.meanwhile.left = [pair for pair in self.meanwhile.left if pair[1] is not case]
        one: Any = self.following.taken(CHALLENGE, case)
        if one is None:
            runner = self.ready_runner()
            one = Attempt(CHALLENGE, case)
            one.ask(runner)
        one.read(meanwhile=self.following.prepare)
        self.following.ask(one)
        self.evidence.failed += [] if one.judged().passed else [one.trial]


@pytest.fixture(autouse=True)
def attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    said.clear()
    monkeypatch.setattr(pipelined_case, "Attempt", Attempt)
    monkeypatch.setattr(pipelined_case, "several", lambda _: False)
    monkeypatch.setattr(pipelined_case, "wanted", lambda *_: False)
    monkeypatch.setattr(Attempt, "wrong", {})


def test_the_next_one_is_drawn_before_an_answer_and_asked_behind_it() -> None:
    grading = Grading()
    grading.turn(CASES[0])
    assert said == ["drawn 1", "asked 1", "drawn 2", "read 1", "asked 2", "judged 1"]
    grading.turn(CASES[1])
    assert said[6:] == ["drawn 3", "read 2", "asked 3", "judged 2"]


def test_it_is_not_asked_while_the_runner_is_wanted_for_the_one_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grading = Grading()
    monkeypatch.setattr(pipelined_case, "wanted", lambda *_: True)
    grading.turn(CASES[0])
    grading.turn(CASES[1])
    assert said == [
        "drawn 1",
        "asked 1",
        "drawn 2",
        "read 1",
        "judged 1",
        "asked 2",
        "drawn 3",
        "read 2",
        "judged 2",
    ]


def test_whoever_wants_the_runner_first_has_its_answer_judged_and_kept() -> None:
    grading = Grading(pending=(2,))
    grading.turn(CASES[0])
    assert said[-2:] == ["asked 3", "judged 1"]
    grading.turn(CASES[1])
    assert said[6:] == [
        "read 3",
        "judged 3",
        "drawn 2",
        "asked 2",
        "drawn 4",
        "read 2",
        "asked 4",
        "judged 2",
    ]
    assert grading.meanwhile.wait(CHALLENGE, CASES[2]) is not None


@pytest.mark.parametrize(
    ("wrong", "ended"), [("values", False), ("error", True), (RunnerLost("crashed", ""), True)]
)
def test_one_that_does_not_pass_has_its_turn_all_the_same(wrong: Any, ended: bool) -> None:
    grading = Grading(pending=(2,))
    Attempt.wrong = {3: wrong}
    grading.turn(CASES[0])
    grading.turn(CASES[1])
    assert ("closed" in said) == ended
    assert grading.meanwhile.wait(CHALLENGE, CASES[2]) is None
    assert grading.runner == (2 if ended else 1)


def test_none_follows_once_something_is_wrong() -> None:
    grading = Grading()
    Attempt.wrong = {1: "values"}
    grading.turn(CASES[0])
    grading.turn(CASES[1])
    assert said[6:] == ["read 2", "judged 2"]
    grading.turn(CASES[2])
    assert said[8:] == ["drawn 3", "asked 3", "read 3", "judged 3"]


def test_none_is_asked_of_a_runner_whose_cuda_context_may_be_gone() -> None:
    grading = Grading()
    Attempt.wrong = {1: "error"}
    grading.turn(CASES[0])
    assert said == ["drawn 1", "asked 1", "drawn 2", "read 1", "judged 1"]


def test_with_a_fresh_runner_it_is_asked_again() -> None:
    grading = Grading()
    grading.turn(CASES[0])
    grading.runner = None
    grading.turn(CASES[1])
    assert said[6:] == ["asked 2", "drawn 3", "read 2", "asked 3", "judged 2"]
