"""Of two bars one that is missed decides, and not one that noise left open."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from grader.judge.failures import CheckFailed
from grader.judge.plugin import Reporter
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
    reporter = Reporter(session, events=None)  # type: ignore[arg-type]
    for outcome in outcomes:
        reporter._own(f"fast[{outcome}]", CheckFailed(outcome, {}, (f"It is {outcome}.", "bytes moved")))
    assert session.evidence.own == ("fast[slow]", ("It is slow.", "bytes moved"))
