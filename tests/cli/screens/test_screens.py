"""Every screen as it is kept in tests/snapshots/, and what all of them have in common."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.cli.screens import Terminal, day_pages, progress, result
from grader.course.catalog import Key
from grader.course.learner import handout, workspace
from grader.course.learner.journal import Progress
from grader.course.setup.doctor import Condition
from grader.errors import UnknownDay
from grader.verdict import Check, Verdict
from tests.learner import day, snapshot
from tests.shown import VERDICTS, grading, shown

pytestmark = pytest.mark.usefixtures("course", "colour_terminal")


@pytest.mark.parametrize("name", VERDICTS)
def test_a_grading_reads_as_kept(name: str) -> None:
    snapshot(f"graded-{name}", shown(grading(name)))


def test_a_grading_on_an_ascii_terminal_reads_as_kept() -> None:
    snapshot("graded-failed-ascii", shown(grading("failed"), encoding="ascii"))
    snapshot("graded-half-done-ascii", shown(grading("half-done"), encoding="ascii"))
    snapshot("graded-slow-ascii", shown(grading("slow"), encoding="ascii"))


def test_a_grading_of_some_other_file_names_it_in_the_next_command() -> None:
    text = shown(grading("failed", own=False))
    assert "Next: track grade 2 --file kernel.py " in text
    assert "track grade 2 --file kernel.py --seed 4021 -k n=1025-fp32" in text
    assert "The day is done" not in shown(grading("passed-cpu", own=False))


def test_a_file_for_another_day_is_graded_there_next() -> None:
    cause = {"reason": "Your file defines no function add().", "asked_by": [13, 14]}
    checks = (Check("imports", "failed", 0.0, cause),)
    verdict, path = Verdict(8, "failed", 1, "cpu", {}, checks=checks), Path("kernel.py")
    loose = shown(lambda terminal: result.show(terminal, verdict, path))
    own = shown(lambda terminal: result.show(terminal, verdict, path, passed=("track start 9", "")))
    assert "Next: track grade 13 --file kernel.py   grades it there\n" in loose
    assert "Next: track grade 8   once kernel.py is changed" in own


@pytest.mark.parametrize(
    ("cause", "line"),
    [
        ({"max_error": 0.00052, "allowed": 0.00042, "over": "its row"}, "1.24 times what is allowed"),
        ({"max_error": 0.406, "allowed": 1e-05, "over": "its row"}, "40,600 times what is allowed"),
        ({"max_error": float("inf"), "allowed": 1e-05}, "over a million times what is allowed"),
        (
            {"max_error": 49.6, "allowed": 0.0, "over": "its row", "relative": False},
            "a norm of 49.6 over its row, where 0 is right",
        ),
        ({"max_error": 0.3, "allowed": 0.0, "over": "its row"}, "0.3 of the norm of its row"),
    ],
)
def test_an_error_is_told_by_what_is_allowed(cause: dict[str, object], line: str) -> None:
    assert result._error(cause) == line


def test_words_of_one_meaning_stand_together() -> None:
    rows = result._words({"lift": "added to keys", "sink": "the first key", "rise": "added to keys"})
    assert rows == [(("lift, rise", "dim"), "added to keys"), (("sink", "dim"), "the first key")]


def test_a_hunt_gives_its_bugs_away_where_no_hint_could_tell_of_it() -> None:
    kept, loose = shown(grading("hunt")), shown(grading("hunt", own=False))
    assert "What would give a bug away." not in kept
    assert "kernel.py:9" not in kept
    assert "What would give a bug away." in loose
    assert "kernel.py:9" in loose


def test_one_case_that_passed_is_no_day_done() -> None:
    text = shown(grading("passed-cpu", only="n=4"))
    assert "The day is done" not in text
    assert "Next: track grade 2   grades every case" in text


DRAWN: dict[str, Callable[[Terminal], object]] = {
    "status": lambda t: progress.status(t, STANDING, day(8), skipped=2),
    "status-every-day": lambda t: progress.status(t, STANDING, day(8), every=True),
    "status-new": lambda t: progress.status(t, {}, None),
    "status-all-on-cpu": lambda t: progress.status(t, ALL_ON_CPU, day(8)),
    "list": lambda t: progress.listing(t, STANDING, day(8)),
    "where-new": lambda t: progress.where(t, None, {}, None),
    "where": lambda t: progress.where(t, Path.cwd() / "my-track", STANDING, day(8)),
    "hint": lambda t: day_pages.hint(t, day(2), {1: "What is 2x?"}),
    "hint-of-a-hunt": lambda t: day_pages.hint(t, day(2), {1: "What is 2x?"}, untold="It is 3x."),
    "hint-last": lambda t: day_pages.hint(t, day(2), {3: "```python\nx + x\n```"}),
    "lesson": lambda t: day_pages.lesson(t, day(2), ("track start 2", "")),
    "doctor": lambda t: day_pages.doctor(t, FINDINGS),
    "doctor-fine": lambda t: day_pages.doctor(t, FINDINGS[:2]),
    "error": lambda t: day_pages.error(t, UnknownDay("No day 99. Did you mean 9?", "track start 9")),
}  # fmt: skip
ALL_ON_CPU = dict.fromkeys((1, 2, 8), Progress(on_cpu=True))
STANDING = {
    1: Progress(
        started=True, gradings=3, on_gpu=True, last="passed", speed={"evidence": "measured", "of_copy": 0.861}
    ),
    2: Progress(started=True, gradings=1, on_cpu=True, last="failed", speed={"evidence": "predicted"}),
    8: Progress(started=True, gradings=4, last="failed", failed="correct[n=1025-fp32]"),
}
FINDINGS = [
    Condition(True, "Python 3.11.7"),
    Condition(None, "no NVIDIA GPU: kernels run on the CPU; speed is predicted"),
    Condition(False, "torch is not installed", "pip install torch==2.13.0"),
]


@pytest.mark.parametrize("name", DRAWN)
def test_a_screen_reads_as_kept(name: str) -> None:
    snapshot(name, shown(DRAWN[name]))


def started(terminal: Terminal, key: Key = 2) -> None:
    found, what = workspace.create(), day(key)
    day_pages.started(terminal, found, what, handout.start(found, what), resumed=False)
    day_pages.started(terminal, found, what, handout.start(found, what), resumed=True)
    day_pages.was_reset(
        terminal, found, what, found.hidden / "trash" / "2026-01-01_12-00-00" / what.stem, True, True
    )


def test_start_resume_and_reset_read_as_kept() -> None:
    snapshot("start-resume-reset", shown(started))


GROWN = {
    **STANDING,
    "tripling": Progress(started=True, gradings=2, last="failed", failed="correct[n=4-fp32]"),
}


@pytest.mark.usefixtures("grown")
@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("status", lambda t: progress.status(t, GROWN, day("tripling"))),
        ("status-of-its-week", lambda t: progress.status(t, GROWN, day(2))),
        ("list", lambda t: progress.listing(t, GROWN, day(8))),
        ("list-extras", lambda t: progress.listing(t, GROWN, day(8), extras_alone=True)),
        ("where", lambda t: progress.where(t, Path.cwd() / "my-track", GROWN, day("tripling"))),
        ("hint", lambda t: day_pages.hint(t, day("tripling"), {1: "What is 3x?"})),
        ("start-resume-reset", lambda t: started(t, "tripling")),
    ],
)
def test_a_course_with_an_extra_and_a_day_36_reads_as_kept(
    name: str, draw: Callable[[Terminal], object]
) -> None:
    snapshot(f"grown-{name}", shown(draw))


SCREENS = {**DRAWN, **{f"graded-{name}": grading(name) for name in VERDICTS}, "started": started}


@pytest.mark.parametrize("name", [name for name in SCREENS if not name.startswith("error")])
def test_a_screen_ends_with_the_next_command(name: str) -> None:
    assert shown(SCREENS[name]).splitlines()[-1].startswith("Next: track")


@pytest.mark.parametrize("name", SCREENS)
def test_piped_output_has_no_colour_and_no_trailing_blank(name: str) -> None:
    text = shown(SCREENS[name])
    assert "\x1b" not in text
    assert [line for line in text.splitlines() if line != line.rstrip()] == []


@pytest.mark.parametrize("name", SCREENS)
def test_an_ascii_terminal_gets_ascii(name: str) -> None:
    text = shown(SCREENS[name], encoding="ascii")
    assert text.isascii()
    assert not re.search(r"(?<!2x)(?<!stuck)(?<!9)\?(?!        fast)", text)


def test_what_cannot_run_or_moves_too_much_is_not_called_too_slow() -> None:
    def headline(fact: str, outcome: Any) -> str:
        check = Check("fast", outcome, 1.0, {"reason": "so", "fact": fact, "gpu": "H200"})
        return result._headline(Verdict(2, outcome, 1, "cpu", {}, (check,)), check)

    assert headline("compiles", "failed") == "Not yet: a kernel does not compile for an H200."
    assert headline("bytes", "slow") == "Not yet: correct, but it moves more bytes than it must."
    assert headline("time", "slow") == "Not yet: correct, but predicted to be too slow."
