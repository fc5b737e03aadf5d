"""While a case waits for the compiler, others are tried whose kernels are there; only what passes is kept."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from grader.challenge import Case, Challenge
from grader.challenge.cases.runner_client import RunnerLost
from grader.judge.out_of_order import Meanwhile

CHALLENGE = Challenge("f", lambda case, draw: (), lambda x: x, [])
PLAIN = [Case(n=n) for n in (1, 2, 3)]
EDGES = [Case(n=4), Case(n=5, gpu=True)]


class Trying:
    """A session in which a case is compiled as soon as so many others were tried.

    Args:
        after: by the case's size.
        begun: whether a case has had its turn before.
        outcomes: by the case's size what its trial comes to, a kind of finding or an exception; others pass.
    """

    def __init__(self, after: dict[int, int], outcomes: dict[int, Any], begun: bool) -> None:
        self.tried: list[int] = []
        self.closed = 0
        self.evidence = SimpleNamespace(trials=[None] * begun)
        self.outcomes = outcomes
        cases = {"correct": PLAIN, "edges": EDGES}
        self.asked = SimpleNamespace(cases=lambda group: [(CHALLENGE, case) for case in cases[group]])
        self.left = {n: (left, Future[None]()) for n, left in after.items()}
        self.ahead = SimpleNamespace(pending=self.pending)

    def pending(self, _: Challenge, case: Case) -> list[Future[None]]:
        left, compiled = self.left.get(case.n, (0, Future[None]()))
        return [compiled] if len(self.tried) < left else []

    def attempted(self, challenge: Challenge, case: Case) -> SimpleNamespace:
        self.tried.append(case.n)
        outcome = self.outcomes.get(case.n)
        if isinstance(outcome, Exception):
            raise outcome
        findings = [SimpleNamespace(kind=outcome)] if outcome else []
        return SimpleNamespace(passed=not outcome, findings=findings, challenge=challenge, case=case)

    def close(self) -> None:
        self.closed += 1


def graded(
    after: dict[int, int], outcomes: dict[int, Any] | None = None, begun: bool = True
) -> tuple[list[int], list[int], int]:
    """In which order cases were tried, which of them before their turn, and how often a runner was ended."""
    session: Any = Trying(after, outcomes or {}, begun)
    meanwhile = Meanwhile(session)
    early = []
    for case in PLAIN + EDGES:
        kept = meanwhile.wait(CHALLENGE, case)
        if kept is None:
            session.tried.append(case.n)
        else:
            assert kept.case is case
            early.append(case.n)
    return session.tried, early, session.closed


def test_each_is_tried_in_its_turn_where_nothing_is_waited_for() -> None:
    assert graded({}) == ([1, 2, 3, 4, 5], [], 0)


def test_what_is_compiled_is_tried_meanwhile_and_not_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.judge.out_of_order.WAITED", 0.05)
    assert graded({1: 1}) == ([2, 1, 3, 4, 5], [2], 0)
    assert graded({1: 2, 2: 4}) == ([3, 4, 1, 2, 5], [3, 4], 0)


@pytest.mark.parametrize("outcome", ["values", "error", RunnerLost("crashed", "")])
def test_what_does_not_pass_is_tried_again_in_its_turn_and_nothing_before_its_own(
    outcome: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.judge.out_of_order.WAITED", 0.05)
    tried, early, closed = graded({1: 3}, {2: outcome})
    assert (tried, early) == ([2, 1, 2, 3, 4, 5], [])
    assert closed == (outcome != "values"), "after an illegal access a CUDA context answers nothing any more"


def test_nothing_is_tried_before_the_first_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.judge.out_of_order.WAITED", 0.05)
    assert graded({1: 1}, begun=False) == ([1, 2, 3, 4, 5], [], 0)


def test_large_cases_wait_for_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.judge.out_of_order.WAITED", 0.05)
    assert graded({n: 9 for n in (1, 2, 3, 4)}) == ([1, 2, 3, 4, 5], [], 0)
