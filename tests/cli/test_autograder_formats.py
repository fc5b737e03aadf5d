"""A verdict as Gradescope, GitHub Classroom and check50 read it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grader.cli.autograder_formats import FORMATS
from grader.verdict import Check, SpeedResult, Verdict
from tests.learner import SOLUTION_1, Learner

SPEED = SpeedResult("measured", 50.0, 100.0, 90.0, 40.0, 0.8, 1.8, "0.40 of copy", 2.0, (1.9, 2.1), 15)
CHECKS = (
    Check("imports", "passed"),
    Check("correct[n=8]", "passed"),
    Check("correct[n=9]", "failed", cause={"reason": "the values differ"}),
    Check("edges[n=0]", "not reached"),
    Check("memory", "not measured", cause={"reason": "needs a GPU"}),
)
FAILED = Verdict(
    13, "failed", 7, "cpu", {"track": "0.1.0"}, CHECKS, diagnosis="A mask.", look_at="line 9", seconds=1.6
)
PASSED = Verdict(13, "passed", 7, "NVIDIA H200", {"track": "0.1.0"}, (Check("imports", "passed"),), SPEED)


def made(name: str, verdict: Verdict) -> dict[str, Any]:
    return dict(json.loads(json.dumps(FORMATS[name](verdict))))


def test_gradescope_counts_the_score_on_top_and_ranks_by_time() -> None:
    told = made("gradescope", FAILED)
    assert (told["score"], told["execution_time"]) == (15.0, 2)
    assert told["output"].splitlines()[:2] == ["A mask.", "Look at: line 9"]
    assert [(one["name"], one["status"]) for one in told["tests"]] == [
        ("imports", "passed"),
        ("correct", "failed"),
        ("edges", "failed"),
    ]
    assert told["tests"][1]["output"] == "1 of 2 passed; correct[n=9]: the values differ"
    assert all(not {"score", "max_score"} & one.keys() for one in told["tests"])
    told = made("gradescope", PASSED)
    assert told["score"] == 100.0
    assert told["leaderboard"][1] == {"name": "µs (measured)", "value": 50.0, "order": "asc"}


def test_classroom_sums_the_points_of_the_tests() -> None:
    for verdict, status, points in ((FAILED, "fail", 15.0), (PASSED, "pass", 100.0)):
        told = made("classroom", verdict)
        assert (told["status"], told["max_score"]) == (status, 100)
        assert [(one["status"], one["score"]) for one in told["tests"]] == [(status, points)]


def test_check50_says_what_was_skipped_and_why() -> None:
    told = made("check50", FAILED)
    assert (told["slug"], told["version"]) == ("13", "0.1.0")
    assert [(one["name"], one["passed"], one["dependency"]) for one in told["results"]] == [
        ("imports", True, None),
        ("correct", False, "imports"),
        ("edges", None, "correct"),
    ]
    assert [one["cause"] for one in told["results"]] == [
        None,
        {"rationale": "1 of 2 passed; correct[n=9]: the values differ", "help": "line 9"},
        {"rationale": "not reached", "help": None},
    ]


@pytest.mark.parametrize("words", [("--format", "gradescope"), ("--json",)])
def test_a_document_goes_where_it_is_asked_for(words: tuple[str, ...], learner: Learner) -> None:
    (learner.folder / "my.py").write_text(SOLUTION_1, encoding="utf-8")
    printed = learner.types("grade", "1", "--file", "my.py", "--cpu", "--seed", "1", *words)
    written = learner.types("grade", "1", "--file", "my.py", "--cpu", *words, "--output", "results.json")
    assert (printed.code, written.code) == (0, 0)
    assert json.loads((learner.folder / "results.json").read_text()).keys() == json.loads(printed.out).keys()
    assert "Passed." in written.out
    lost = learner.types("grade", "1", "--file", "my.py", "--cpu", *words, "--output", "no/results.json")
    assert (lost.code, lost.err.splitlines()[0]) == (
        2,
        "error: no/results.json cannot be written: is there such a folder?",
    )
