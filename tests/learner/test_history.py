"""Best speeds and gradings over time, from the journal."""

from __future__ import annotations

from typing import Any

from grader.course.learner.history import best_speeds, daily


def graded(day: int | str = 7, status: str = "passed", **facts: Any) -> dict[str, Any]:
    return {"event": "graded", "day": day, "status": status, "at": "2026-11-02T12:00:00+00:00", **facts}


def speed(ratio: float, evidence: str = "measured") -> dict[str, Any]:
    return {"ratio": ratio, "evidence": evidence, "yours_us": 1.0, "needed_us": ratio, "copy_us": 1.0}


def test_the_best_speed_is_measured_passed_and_of_the_whole_day() -> None:
    records = [
        graded(speed=speed(9.0, "predicted"), device="cpu"),
        graded(speed=speed(1.2), device="NVIDIA H200"),
        graded(speed=speed(1.5), device="NVIDIA H200"),
        graded(speed=speed(1.3)),
        graded(speed=speed(3.0), status="failed"),
        graded(speed=speed(4.0), only="n=4"),
        graded(day=8, speed=speed(2.0, "predicted")),
        graded(day=9, speed={"ratio": "fast"}),
        graded(day=10, speed=None),
        {"event": "started", "day": 11},
    ]
    best = best_speeds(records)
    assert {day: one["ratio"] for day, one in best.items()} == {7: 1.5, 8: 2.0}
    assert best[7]["device"] == "NVIDIA H200"


def test_gradings_are_counted_by_calendar_day() -> None:
    later = {"at": "2026-11-05T12:00:00+00:00"}
    records = [
        graded(status="failed"), graded(), graded("rope"), graded(only="n=4"), graded(at="yesterday"),
        graded(status="slow") | later, {"event": "hint", "day": 7} | later,
        graded(status="unstarted") | later,
    ]  # fmt: skip
    assert [(one.day.day, one.passed, one.others) for one in daily(records)] == [(2, 2, 1), (5, 0, 1)]
