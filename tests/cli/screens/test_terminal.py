"""Colours, marks, width and letters, on every kind of terminal."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from grader.cli.screens import Terminal, day_pages, progress, speed_rows
from grader.cli.screens.grading import Grading
from grader.cli.screens.terminal import lasting, spell
from grader.course.learner.journal import Progress
from grader.digits import apart, figure
from grader.errors import TrackError
from tests.learner import HINTS, REPO, day
from tests.shown import VERDICTS, Screen, checks, grading, shown

pytestmark = pytest.mark.usefixtures("course", "colour_terminal")


def newcomer(terminal: Terminal) -> None:
    progress.where(terminal, None, {}, None)


def status(terminal: Terminal) -> None:
    progress.status(terminal, {1: Progress(on_gpu=True)}, day(1))


def test_a_dumb_terminal_gets_words_for_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    text = shown(grading("failed"), tty=True)
    assert "ok       imports" in text
    assert "FAIL     correct" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("name", VERDICTS)
def test_a_terminal_says_the_same_as_a_pipe_but_for_colour_and_wrapping(name: str) -> None:
    def words(text: str) -> list[str]:
        text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
        return text.replace("loading torch and triton", "").split()

    on_terminal, piped = words(shown(grading(name), tty=True)), words(shown(grading(name)))
    rest = iter(on_terminal)  # between the lines stands what runs
    assert [word for word in piped if word not in rest] == []


@pytest.mark.parametrize("tty", [True, False])
def test_what_a_file_takes_from_earlier_days_stays_on_the_screen(tty: bool) -> None:
    def draw(terminal: Terminal) -> None:
        with Grading(terminal, day(2)) as live:
            live({"event": "taken", "text": "attention of day 27: yours"})
            live({"event": "note", "text": "loading torch and triton"})

    assert "\n  attention of day 27: yours" in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown(draw, tty=tty))


def test_a_terminal_gets_the_same_blank_lines_as_a_pipe() -> None:
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown(status, tty=True))
    assert [line.rstrip() for line in plain.splitlines()] == shown(status).splitlines()


def test_no_color_is_honoured_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    colour = re.compile(r"\x1b\[[0-9;]*3[0-9]")
    assert colour.search(shown(status, tty=True))
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colour.search(shown(status, tty=True))


def test_what_a_kernel_printed_cannot_drive_the_terminal() -> None:
    text = shown(lambda terminal: terminal.line("\x1b[2Jgone\x07\r\x9b31m", indent=2), tty=True)
    assert "\x1b[2J" not in text
    assert r"\x1b[2Jgone\x07\r\x9b31m" in text
    assert r"a\u202eb" in shown(lambda terminal: terminal.line("a\u202eb"), tty=True)


def test_a_path_that_is_no_unicode_can_still_be_shown() -> None:
    assert "caf?" in shown(lambda terminal: terminal.line(b"caf\xe9".decode("utf-8", "surrogateescape")))


def test_a_long_line_wraps_inside_its_indent_on_a_terminal_and_not_in_a_pipe() -> None:
    long = "word " * 40

    def draw(terminal: Terminal) -> None:
        terminal.line(long.strip(), indent=4)

    assert all(line.startswith("    word") for line in shown(draw, tty=True).splitlines())
    assert len(shown(draw).splitlines()) == 1


PATH = ".track/trash/2026-01-01_12-00-00/day01_hello_triton"


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ([("time", "126.3 µs predicted for one H200"), ("launches", "1")],
         ["  time      126.3 µs predicted for one", "            H200", "  launches  1"]),
        ([("·", "06", "multi_dimensional_grids", "Multi-dimensional grids"), ("·", "01", "hello", "Hello")],
         ["  ·  06  multi_dimensional_grids", "    Multi-dimensional grids", "  ·  01  hello  Hello"]),
        ([("your work", PATH)], [f"  your work  {PATH}"]),
        ([("a", "b"), ("longer", "c")], ["  a       b", "  longer  c"]),
    ],
)  # fmt: skip
def test_on_a_narrow_terminal_a_table_can_still_be_read(
    rows: list[tuple[str, ...]], lines: list[str]
) -> None:
    def narrow(terminal: Terminal) -> None:
        terminal.console.width = 40
        terminal.table(rows)

    assert shown(narrow, tty=True).splitlines() == lines


def test_the_line_of_what_runs_counts_cases_and_names_the_one_that_runs() -> None:
    stream = Screen(tty=True)
    live = Grading(Terminal(stream, width=80), day(2))
    live({"event": "planned", "checks": [check.name for check in checks()]})
    live({"event": "checked", "check": {"name": "imports", "outcome": "passed"}})
    live({"event": "started", "check": "correct[n=4-fp32]"})
    assert live._now() == "correct 1/2: n=4-fp32"
    live({"event": "checked", "check": {"name": "correct[n=4-fp32]", "outcome": "failed"}})
    live({"event": "started", "check": "correct[n=1025-fp32]"})
    assert live._now() == "correct 2/2, 1 failed: n=1025-fp32"


def test_events_of_a_newer_judge_are_ignored() -> None:
    live = Grading(Terminal(Screen()), day(2))
    live({"event": "applause"})
    live({})


def test_times_ago_are_told_in_one_unit() -> None:
    def ago(**span: float) -> str:
        at = (datetime.now(timezone.utc) - timedelta(**span)).isoformat()
        return progress._ago(at)

    assert ago(seconds=5) == ", just now"
    assert ago(minutes=1, seconds=1) == ", 1 minute ago"
    assert ago(hours=3) == ", 3 hours ago"
    assert ago(days=2) == ", 2 days ago"
    assert ago(days=-1) == ""
    assert progress._ago("yesterday") == ""


def test_figures_are_told_in_microseconds_and_few_digits() -> None:
    assert [speed_rows.duration(us) for us in (4.6712, 78.1, 3412.4)] == [
        "4.671 µs",
        "78.1 µs",
        "3,412 µs",
    ]
    assert [figure(n) for n in (1e-05, float("nan"), 3, True, [1, 2], None)] == [
        "1e-05", "nan", "3", "True", "[1, 2]", "None",
    ]  # fmt: skip
    assert apart(100442349, 100442352) == ("100442349", "100442352")
    assert apart(1.0000000001, 1.0) == ("1.0000000001", "1")
    assert apart(0.5, 0.25) == ("0.5", "0.25")


def test_commands_are_told_as_this_person_types_them(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACK_COMMAND", "./track")
    assert "Next: ./track start 1" in shown(newcomer)
    monkeypatch.delenv("TRACK_COMMAND")
    monkeypatch.setattr("sys.argv", ["/somewhere/.venv/bin/track"])
    monkeypatch.setenv("PATH", "/nowhere")
    assert "Next: track start 1" in shown(newcomer)
    (course / "track").touch()
    assert "Next: ../course/track start 1" in shown(newcomer)
    monkeypatch.chdir(course)
    assert "Next: ./track start 1" in shown(newcomer)
    monkeypatch.setattr("sys.argv", ["/somewhere/grader/__main__.py"])
    assert "Next: python -m grader start 1" in shown(newcomer)
    text = shown(
        lambda terminal: day_pages.error(terminal, TrackError("`track reset 1`.", "pip install track"))
    )
    assert "error: `python -m grader reset 1`." in text
    assert "fix: pip install track" in text


def test_what_goes_into_a_start_up_file_is_found_from_any_folder(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACK_COMMAND", "track")
    assert lasting() == "track"
    (course / "track").touch()
    for typed in ("./track", "python -m grader"):
        monkeypatch.setenv("TRACK_COMMAND", typed)
        assert lasting() == str(course / "track")


def test_every_letter_of_the_lessons_has_an_ascii_spelling() -> None:
    assert spell("µs → 2·√d ≤ 1 … é") == "us -> 2*sqrtd <= 1 ... e"
    assert spell("日本") == "??"
    course = [*REPO.glob("days/**/*.md"), *REPO.glob("hints/**/*.md"), *REPO.glob("days/**/kernel.py")]
    written = [*course, *REPO.glob("solutions/**/*.py"), *REPO.glob("grader/**/*.py")]
    letters = set("".join(path.read_text(encoding="utf-8") for path in written)) - {"?"}
    assert not [letter for letter in letters if "?" in spell(letter)]


@pytest.mark.parametrize(
    ("words", "ascii"),
    [
        ("−10⁴ or 2⁻³", "-10^4 or 2^-3"), ("xᵢ · ½", "x_i * 1/2"), ("q · kᵀ", "q * k^T"),
        ("Day 13 · Fused softmax", "Day 13 - Fused softmax"), ("# Extra · Tripling", "# Extra - Tripling"),
    ],
)  # fmt: skip
def test_what_is_spelled_in_ascii_means_the_same(words: str, ascii: str) -> None:
    assert spell(words) == ascii
    assert HINTS.isascii()
