"""Of two bars one that is missed decides, and not one that noise left open."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from grader.judge.failures import CheckFailed
from grader.judge.suite import BUSY, Planned, Suite
from grader.verdict import Check, Outcome, decisive

SLOW, OPEN = Check("fast[wide]", "slow"), Check("fast[square]", "inconclusive")


@pytest.mark.parametrize("checks", [[SLOW, OPEN], [OPEN, SLOW]])
def test_what_is_too_slow_decides(checks: list[Check]) -> None:
    assert decisive([Check("imports", "passed"), *checks]) is SLOW


def test_what_is_left_open_decides_alone() -> None:
    assert decisive([Check("memory", "not measured"), OPEN, Check("fast[wide]", "passed")]) is OPEN
    assert decisive([Check("imports", "passed")]) is None


@pytest.mark.parametrize("outcomes", [("slow", "inconclusive"), ("inconclusive", "slow")])
def test_the_sentence_is_of_what_decides(outcomes: tuple[Outcome, Outcome]) -> None:
    session: Any = SimpleNamespace(evidence=SimpleNamespace(own=None))
    suite = Suite(session, events=None)  # type: ignore[arg-type]
    for outcome in outcomes:
        suite.own(f"fast[{outcome}]", CheckFailed(outcome, {}, (f"It is {outcome}.", "bytes moved")))
    assert session.evidence.own == ("fast[slow]", ("It is slow.", "bytes moved"))


def test_a_check_that_does_not_end_is_our_bug_and_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[dict[str, Any]] = []
    request = SimpleNamespace(fail_fast=False, call_timeout=0.0, device="cpu")
    session: Any = SimpleNamespace(request=request, evidence=SimpleNamespace(own=None))
    endless = Planned("correct", "correct[n=8]", lambda: time.sleep(60.0))
    monkeypatch.setitem(BUSY, "cpu", 0.05)
    monkeypatch.setattr("grader.judge.suite.planned", lambda _: iter([endless]))
    suite = Suite(session, SimpleNamespace(send=events.append))  # type: ignore[arg-type]
    suite.run()
    assert "a check took too long" in suite.broken
    assert [event["event"] for event in events] == ["planned", "started", "checked"]
