"""Slow is what is slow twice, unless nothing that is in its way makes it so slow."""

from __future__ import annotations

import time
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from grader.judge.checks import measured_speed
from grader.judge.failures import CheckFailed
from grader.judge.speed import benchmark
from grader.judge.speed.benchmark import Benchmark
from grader.judge.speed.ratio import Ratio


def graded(monkeypatch: pytest.MonkeyPatch, *values: float, busy: bool = False) -> tuple[str, int]:
    """The outcome where timings give these ratios to the bar in turn, and how many there were."""
    left = list(values)

    def timed(*_: Any) -> Any:
        value = left.pop(0)
        verdict = "passed" if value >= 1 else "slow"
        ratio = Ratio(value, (value, value), "0.60 of copy", 1.0, verdict)  # type: ignore[arg-type]
        times = {who: [100.0] for who in ("yours", "torch", "copy", "again")}
        waited = iter((0.0, 1.0 if busy else 0.01))
        benchmark: Any = SimpleNamespace(ratio=lambda: ratio, times=times, _in_line=lambda: next(waited))
        benchmark.begin, benchmark.in_line_before = time.monotonic() - 2.0, benchmark._in_line()
        benchmark.check_idle = lambda: Benchmark.check_idle(benchmark)
        return benchmark

    monkeypatch.setattr(measured_speed, "_timed", timed)
    session: Any = SimpleNamespace(all_compiled=lambda: None, keep_speed=lambda _: None)
    nothing: Any = None
    try:
        measured_speed.check(session, nothing, nothing)
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
    monkeypatch.setattr(measured_speed, "own_stream", nullcontext)
    assert graded(monkeypatch, *values) == outcome


def test_what_was_slow_while_it_stood_in_line_for_a_core_is_left_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measured_speed, "own_stream", nullcontext)
    assert graded(monkeypatch, 0.9, 0.9, busy=True) == ("inconclusive", 2)


@pytest.mark.parametrize(
    ("claimed", "bursts", "open_"),
    [
        (1500.0, [1500.0] * 8, False),
        (1500.0, [4355.0] * 3 + [1600.0], False),  # busy for a while
        (1500.0, [4355.0] * 8, True),  # busy all the time, or work that no timer sees
        (10.0, [100.0] * 8, True),  # less than a copy takes
    ],
)
def test_the_clock_alone_fails_nobody(
    claimed: float, bursts: list[float], open_: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmark, "PAUSE", 0.0)
    each = iter(call for call in bursts for _ in range(3))  # µs a call, of each pair of bursts in turn
    now = [0.0]

    def burst(calls: int) -> float:
        now[0] = next(each) if calls == 2 else now[0] or bursts[0]
        return calls * now[0] + 300.0

    made: Any = SimpleNamespace(times={"yours": [claimed], "copy": [500.0]}, graph_calls=0, _burst=burst)
    with pytest.raises(CheckFailed) if open_ else nullcontext() as failed:
        Benchmark.audit(made)
    assert not failed or failed.value.outcome == "inconclusive"
