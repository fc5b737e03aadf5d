"""What is copied from a terminal is what was written, and what is drawn can be read there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.cli.screens import Terminal, day_pages
from grader.cli.screens.markdown import markdown, parts
from grader.course import catalog
from grader.errors import TrackError
from tests.shown import shown

pytestmark = pytest.mark.usefixtures("colour_terminal")

LONG = "y = " + " + ".join(f"name_{number}" for number in range(30))
TILES = [
    "      0       128           tile 1 stands in row of tiles 1 // 3",
    "      ┌─────────┬─────────┐",
    "  0   │    0    │    1    │   and in column of tiles 1 % 3",
    "      └─────────┴─────────┘",
]


def plain(text: str) -> list[str]:
    return re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()


def test_a_solution_on_a_terminal_is_the_file_itself() -> None:
    day = catalog.find("35")
    source = day.solution.read_text(encoding="utf-8")
    assert any(len(line) > 80 for line in source.splitlines())
    out = shown(lambda terminal: day_pages.solution(terminal, terminal, day), tty=True)
    assert plain(out)[: len(source.splitlines())] == source.splitlines()


@pytest.mark.parametrize("screen", [{"tty": True}, {"tty": True, "encoding": "ascii"}, {"tty": False}])
def test_code_of_a_lesson_keeps_its_lines(screen: dict[str, object]) -> None:
    source = f"Prose.\n\n```python\n{LONG}\n    {LONG}\n```\n"
    lines = plain(shown(lambda terminal: markdown(terminal, source), **screen))
    assert LONG in lines
    assert f"    {LONG}" in lines


def test_a_diff_and_a_command_keep_their_lines(tmp_path: Path) -> None:
    day = catalog.find("1")
    mine = tmp_path / "kernel.py"
    mine.write_text(LONG)
    assert f"+{LONG}" in plain(shown(lambda t: day_pages.diff(t, t, day, day.skeleton, mine), tty=True))
    fix = f"track grade 1 --file /{'long/' * 20}kernel.py"
    problem = TrackError("It is so.", fix)
    assert f"fix: {fix}" in plain(shown(lambda t: day_pages.error(t, problem), tty=True))
    lines = plain(shown(lambda t: t.next(fix, "and then"), tty=True))
    assert lines == ["", f"Next: {fix}", "  and then"]


def test_a_drawing_that_is_too_wide_is_cut_in_its_gaps() -> None:
    left, right = parts(TILES, 40)
    assert left == [line[:28].rstrip() for line in TILES]
    assert right == ["tile 1 stands in row of tiles 1 // 3", "", "  and in column of tiles 1 % 3"]
    assert list(parts(TILES, 80)) == [TILES]


def test_its_parts_are_shown_one_below_the_other() -> None:
    source = "```text\n" + "\n".join(TILES) + "\n```\n"

    def narrow(terminal: Terminal) -> None:
        terminal.console.width = 40
        markdown(terminal, source)

    lines = plain(shown(narrow, tty=True))
    assert max(map(len, lines)) <= 40
    assert "to the right of it:" in lines


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_drawing_of_any_lesson_loses_a_letter(width: int) -> None:
    lessons = [*catalog.ROOT.glob("days/**/README.md")]
    drawn = [one for path in lessons for one in re.findall(r"```text\n(.*?)```", path.read_text(), re.DOTALL)]
    assert len(drawn) > 100
    for drawing in drawn:
        shown = list(parts(drawing.splitlines(), width))
        assert all(len(line) <= width for part in shown for line in part)
        assert sorted("".join("".join(part) for part in shown).replace(" ", "")) == sorted(
            re.sub(r"\s", "", drawing)
        )
