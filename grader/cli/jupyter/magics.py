"""The commands of `track` as magics. A cell is a day's kernel.py; the journal is the terminal's."""

from __future__ import annotations

import hashlib
import html
import json
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import takewhile
from pathlib import Path

from IPython.display import HTML, Markdown, display

from grader.cli.command_context import chosen, note
from grader.cli.jupyter import track_subprocess
from grader.cli.screens import Terminal, day_pages
from grader.cli.screens.day_as_notebook import as_magics
from grader.course import catalog
from grader.course.catalog import Day
from grader.course.learner import handout, workspace
from grader.errors import TrackError

# A frame with the page in it: a browser opens no link to a file of the machine that the notebook runs on.
# In a <div>, for IPython warns of HTML that is a frame and nothing else.
FRAME = '<div>{look}<iframe class="track" srcdoc="{page}" title="show"></iframe></div>'
# How JupyterLab, Colab and VS Code say that they are dark.
DARK_ONES = 'body[data-jp-theme-light="false"] .track,html[theme="dark"] .track,body.vscode-dark .track'
LOOK = "<style>iframe.track{color-scheme:light;width:100%;height:640px;border:0}"
LOOK += f"{DARK_ONES}{{color-scheme:dark}}</style>"


def track(line: str) -> None:
    """`%track …`: any command, as a terminal takes it."""
    words = shlex.split(line)
    if words[:1] == ["watch"]:
        return _tell(TrackError("`watch` is for terminals. A cell is graded when you run it.", "%status"))
    track_subprocess.follow(words)


def script(line: str, cell: str) -> None:
    """`%%track python`: the cell as a file that `track python` runs."""
    words = shlex.split(line)
    if words[:1] != ["python"]:
        return _tell(TrackError("Of the commands, `python` alone takes a cell.", "%%track python"))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "cell.py")
        file.write_text(f"\n{cell}", encoding="utf-8")  # so that line 18 is the cell's
        track_subprocess.follow([*words, str(file)])


def _named(name: str, line: str) -> None:
    track_subprocess.follow([name, *shlex.split(line)])


def lesson(line: str) -> None:
    """`%lesson 13`: a day's lesson."""
    words = ["lesson", *shlex.split(line)]
    code, out = track_subprocess.ask(words)
    if code:
        return track_subprocess.follow(words)
    display(Markdown(as_magics(out)))


def show(line: str) -> None:
    """`%show 13`: which elements each program reads and writes."""
    words = ["show", *shlex.split(line)]
    code, out = track_subprocess.ask([*words, "--json"])
    if code:
        return track_subprocess.follow(words)
    page = Path(json.loads(out)["page"]).read_text(encoding="utf-8")
    display(HTML(FRAME.format(look=LOOK, page=html.escape(page.replace("track inspect", "%inspect")))))


def grade(line: str, cell: str) -> None:
    """`%%grade 13`: the cell becomes the day's kernel.py and is graded."""
    words = shlex.split(line)
    try:
        _save(_day(words), f"\n{cell}")  # so that line 18 is the cell's
    except TrackError as problem:
        return _tell(problem)
    track_subprocess.follow(["grade", *words])


LINES: dict[str, Callable[[str], None]] = {"track": track, "lesson": lesson, "show": show}
LINES |= {name: partial(_named, name) for name in ("grade", "hint", "inspect", "start", "status")}
CELLS: dict[str, Callable[[str, str], None]] = {"grade": grade, "track": script}


def _day(words: list[str]) -> Day:
    """The day that a cell begins with, else the one at hand."""
    named = list(takewhile(lambda word: not word.startswith("-"), words))
    return catalog.find(" ".join(named)) if named else chosen(())


def _save(day: Day, source: str) -> None:
    """The cell as the day's kernel.py; a day that was not started is.

    What stands there moves to the trash, unless a cell or the course wrote it.

    Raises:
        CannotWrite: nothing was changed.
    """
    found = workspace.create()
    if not found.folder(day).is_dir():
        handout.start(found, day)
        note(found, "started", day)
    kernel, mark = found.kernel(day), found.copies(day) / "cell"
    with workspace.writing(kernel):
        known = [_digest(found.handed_out(day)), mark.read_text() if mark.is_file() else ""]
        if kernel.is_file() and _digest(kernel) not in known:
            shutil.copytree(found.folder(day), found.new_trash(day))
        handout.write(kernel, source.encode())
        mark.write_text(_digest(kernel))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _tell(problem: TrackError) -> None:
    """One line, and what to do: as every command says it."""
    day_pages.error(Terminal(sys.stdout), problem)
