"""Slow is what is slow twice, unless nothing that is in its way makes it so slow."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from grader.judge.checks import fast
from grader.judge.failures import CheckFailed
from grader.judge.speed.ratio import Ratio


def graded(monkeypatch: pytest.MonkeyPatch, *values: float) -> tuple[str, int]:
    """The outcome where timings give these ratios to the bar in turn, and how many there were."""
    left = list(values)

    def timed(*_: Any) -> Any:
        value = left.pop(0)
        verdict = "passed" if value >= 1 else "slow"
        ratio = Ratio(value, (value, value), "0.60 of copy", 1.0, verdict)  # type: ignore[arg-type]
        times = {who: [100.0] for who in ("yours", "torch", "copy", "again")}
        return SimpleNamespace(ratio=lambda: ratio, times=times)

    monkeypatch.setattr(fast, "_timed", timed)
    session: Any = SimpleNamespace(all_compiled=lambda: None, keep_speed=lambda _: None)
    nothing: Any = None
    try:
        fast.check(session, nothing, nothing)
    except CheckFailed as failed:
        return failed.outcome, len(values) - len(left)
    return "passed", len(values) - len(left)


@pytest.mark.parametrize(
    ("values", "outcome"),
    [
        ((1.1, 0.5), ("passed", 1)),
        ((0.9, 1.1), ("passed", 2)),
        ((0.9, 0.9), ("slow", 2)),
        ((0.2, 1.1), ("slow", 1)),
    ],
)
def test_what_is_slow_is_timed_once_more(
    values: tuple[float, ...], outcome: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fast, "own_stream", nullcontext)
    assert graded(monkeypatch, *values) == outcome
