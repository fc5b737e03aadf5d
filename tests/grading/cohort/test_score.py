"""A score from 0 to 1: cases first, then speed, and nothing for a kernel that did not do the work."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader import Verdict
from grader.verdict import Check, Outcome, SpeedResult

SPEED = SpeedResult("measured", 50.0, 100.0, 90.0, 40.0, 0.8, 1.8, "0.40 of copy", 2.0, (1.9, 2.1), 15)


def verdict(status: str = "passed", speed: SpeedResult | None = None, **groups: list[Outcome]) -> Verdict:
    outcomes: dict[str, list[Outcome]] = {"imports": ["passed"], "correct": ["passed"], "edges": ["passed"]}
    checks = [Check(name, one) for name, many in (outcomes | groups).items() for one in many]
    return Verdict(1, status, 1, "NVIDIA H200", {}, tuple(checks), speed)  # type: ignore[arg-type]


def at(yours_us: float) -> SpeedResult:
    return replace(SPEED, yours_us=yours_us, ratio=SPEED.needed_us / yours_us)


@pytest.mark.parametrize(
    ("one", "score"),
    [
        (verdict("failed", imports=["failed"], correct=["not reached"], edges=["not reached"]), 0.0),
        (verdict("unstarted", imports=["failed"]), 0.0),
        (Verdict(1, "crashed", 1, "cpu", {}), 0.0),
        (verdict("failed", correct=["passed", "failed"], edges=["not reached"]), 0.15),
        (verdict("failed", correct=["passed"] * 3, edges=["passed", "failed"]), 0.4),
        (verdict("failed", honest=["failed"]), 0.0),
        (verdict("failed", memory=["failed"]), 0.5),
        (verdict("passed"), 1.0),
        (verdict("passed", fast=["not measured"]), 0.6),
        (verdict("slow", at(200.0), fast=["slow"]), 0.6),
        (verdict("inconclusive", at(100.0), fast=["inconclusive"]), 0.7),
        (verdict("passed", at(100.0), fast=["passed"]), 0.8),
        (verdict("passed", at(70.0), fast=["passed"]), 0.9),
        (verdict("passed", at(40.0), fast=["passed"]), 1.0),
        (verdict("passed", at(30.0), fast=["passed"]), 1.0),
        (verdict("passed", replace(at(90.0), copy_us=95.0, needed_us=95.0), fast=["passed"]), 1.0),
    ],
)
def test_a_verdict_is_worth(one: Verdict, score: float) -> None:
    assert one.score() == pytest.approx(score)


def test_a_better_file_is_never_worth_less() -> None:
    groups: list[Verdict] = [
        verdict("failed", correct=["passed"] * n + ["failed"] * (4 - n), edges=["not reached"])
        for n in range(4)
    ]
    groups += [verdict("failed", edges=["passed"] * n + ["failed"] * (4 - n)) for n in range(4)]
    groups += [verdict("slow", at(us), fast=["slow"]) for us in (900.0, 300.0, 101.0)]
    groups += [verdict("passed", at(us), fast=["passed"]) for us in (100.0, 80.0, 60.0, 41.0)]
    scores = [one.score() for one in groups]
    assert scores == sorted(scores)
    assert len(set(scores)) == len(scores)


def test_what_cannot_be_measured_here_is_left_out() -> None:
    assert verdict(correct=["passed", "not measured"]).score() == 1.0
