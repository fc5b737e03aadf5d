"""A learner for the tests: a folder, a terminal, and the real command line."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from grader.cli import shell_integration
from grader.cli.commands import track
from grader.course import catalog
from grader.course.catalog import Day
from grader.grading.warm_client import Warm

REPO = Path(__file__).resolve().parents[2]

DAY_1 = "day01_hello_triton"
SOLUTION_1 = (REPO / "solutions" / f"{DAY_1}.py").read_text(encoding="utf-8")

SKELETON = '''"""A day of the tiny course."""

import torch


def double(x):
    """Return 2x."""
    # TODO: return it
    return torch.empty_like(x)
'''
TINY = {
    "day01_hello": "# Day 1 · Hello\n\nSay hello: 2·x ≤ 4.\n",
    "day02_doubling": "# Day 2 · Doubling\n\nDouble it.\n",
    "day08_adding": "# Day 8 · Adding\n\nAdd it.\n",
}
SYLLABUS = """# The 3 days

## Week 1 · Foundations

## Week 2 · Basic operations

## Extras

### Multiples

| topic | after day | you write | you learn |
|---|---|---|---|
| [Tripling](extras/tripling/README.md) | 2 | `triple(x)` | 3x |
"""
# What a later course has more: an extra, and a day of a week that nobody has thought of yet.
MORE = {
    "extras/tripling": "# Extra · Tripling\n\n*After day 2.*\n\nTriple it.\n",
    "day36_squaring": "# Day 36 · Squaring\n\nSquare it.\n",
}
HINTS = "## Nudge\n\nWhat is 2x?\n\n## Approach\n\n1. Add x to x.\n\n## Code\n\n```python\nx + x\n```\n"


def tiny_course(root: Path, lessons: Mapping[str, str]) -> None:
    """Lessons, skeletons, solutions and hints in `root`, of one line each."""
    for place, lesson in lessons.items():
        for name, text in (
            (f"days/{place}/README.md", lesson),
            (f"days/{place}/kernel.py", SKELETON),
            (f"solutions/{place}.py", SKELETON.replace("torch.empty_like(x)", "x + x")),
            (f"hints/{place}.md", HINTS),
        ):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
    (root / "days" / "README.md").write_text(SYLLABUS, encoding="utf-8")


def forget() -> None:
    """Has the catalog look anew."""
    for kept in (catalog.days, catalog.extras, catalog.packs, catalog.weeks):
        kept.cache_clear()


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The tiny course in the place of the real one, and an empty folder to stand in."""
    root = tmp_path / "course"
    tiny_course(root, TINY)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.setattr(catalog, "ROOT", root)
    monkeypatch.delenv("TRACK_HOME", raising=False)
    monkeypatch.chdir(here)
    forget()
    yield root
    forget()


@pytest.fixture
def grown(course: Path) -> Path:
    """The tiny course as it may be later: with an extra and a day 36."""
    tiny_course(course, MORE)
    forget()
    return course


def day(key: int | str) -> Day:
    return next(day for day in catalog.course() if day.key == key)


@dataclass
class Learner:
    """Someone in a folder who types commands."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    warm: Callable[[], Warm] | None = None  # who grades what is typed; else each grading starts its own

    def types(self, *words: str, cwd: Path | None = None) -> Answer:
        """What `track` with these words prints, in this process: to start one takes ten times as long."""
        around = self.surroundings()
        out, err = (io.TextIOWrapper(io.BytesIO(), around["PYTHONIOENCODING"]) for _ in range(2))
        with (
            pytest.MonkeyPatch.context() as patch,
            mock.patch.dict(os.environ, around, clear=True),
            open(os.devnull) as nothing,
        ):
            patch.chdir(cwd or self.folder)
            patch.setattr(signal, "signal", lambda *_: None)  # what ends pytest is pytest's
            patch.setattr(os, "execve", lambda *_: pytest.fail("what runs another program starts()"))
            if self.warm:
                share(patch, self.warm)
            for name, stream in (("stdin", nothing), ("stdout", out), ("stderr", err)):
                patch.setattr(sys, name, stream)
            with pytest.raises(SystemExit) as end:
                shell_integration.run(track, list(words))
        told = []
        for stream in (out, err):
            stream.flush()
            told.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
        return Answer(end.value.code, *told)

    def starts(self, *words: str, stdin: int = subprocess.DEVNULL) -> Answer:
        """Runs `track` with these words in a process of its own, without a terminal."""
        return self._process("-m", "grader", *words, stdin=stdin)

    def watches(self, *words: str) -> str:
        """All that `track` with these words shows on a terminal."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "grader", *words],
            cwd=self.folder,
            env=self.surroundings(),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # Linux says EIO when the other side has closed
            while piece := os.read(ours, 65536):
                shown += piece
        os.close(ours)
        assert process.wait() == 0, shown.decode(errors="replace")
        return shown.decode()

    def runs(self, code: str, *words: str) -> Answer:
        """Runs Python code in the same way, with these words as its arguments."""
        return self._process("-c", code, *words)

    def _process(self, *words: str, stdin: int = subprocess.DEVNULL) -> Answer:
        process = subprocess.run(
            [sys.executable, *words],
            cwd=self.folder,
            env=self.surroundings(),
            stdin=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=150,
            check=False,
        )
        return Answer(process.returncode, process.stdout, process.stderr)

    def surroundings(self) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("TRACK_", "PYTEST_"))
        }
        kept |= {"PYTHONPATH": str(REPO), "PYTHONIOENCODING": "utf-8", "TRACK_COMMAND": "track"}
        return {**kept, **self.environment}

    @property
    def home(self) -> Path:
        return self.folder / "my-track"

    @property
    def journal(self) -> Path:
        return self.home / ".track" / "journal.jsonl"

    def kernel(self, stem: str) -> Path:
        return self.home / stem / "kernel.py"

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.journal.read_text(encoding="utf-8").splitlines()]


def share(patch: pytest.MonkeyPatch, warm: Callable[[], Warm]) -> None:
    """From now on whoever starts a warm parent for the CPU gets this one."""

    def given(device: Any) -> contextlib.AbstractContextManager[Warm]:
        return contextlib.nullcontext(warm()) if device == "cpu" else Warm(device)

    for module in ("grade", "inspection_request"):
        patch.setattr(importlib.import_module(f"grader.grading.{module}"), "Warm", given)


@dataclass(frozen=True)
class Answer:
    """What a command gave back."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on stdout, in strict JSON."""
        return json.loads(self.out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


@pytest.fixture
def learner(tmp_path: Path, request: pytest.FixtureRequest) -> Learner:
    """Someone in an empty folder whose name has a space and an umlaut."""
    folder = tmp_path / "grüße an alle"
    folder.mkdir()
    return Learner(folder, warm=lambda: request.getfixturevalue("warm"))


@pytest.fixture
def started(learner: Learner) -> Learner:
    """The same, after `track start 1`."""
    assert learner.types("start", "1").code == 0
    return learner


@pytest.fixture
def typed(
    warm: Warm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], str]:
    """Types a command in a folder of its own; says what is printed, and raises what is wrong."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRACK_COMMAND", "track")
    share(monkeypatch, lambda: warm)

    def types(words: str) -> str:
        track.main(words.split(), standalone_mode=False)
        return capsys.readouterr().out

    return types


def passed(learner: Learner) -> Learner:
    """The same learner, who has passed day 1 as far as the journal knows."""
    record = {"schema": 1, "event": "graded", "day": 1, "status": "passed", "on_gpu": False}
    with learner.journal.open("a") as file:
        file.write(json.dumps(record) + "\n")
    return learner


def snapshot(name: str, text: str) -> None:
    """Compares `text` with tests/snapshots/<name>.txt; UPDATE_SNAPSHOTS=1 writes it anew."""
    path = REPO / "tests" / "snapshots" / f"{name}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{name} changed; UPDATE_SNAPSHOTS=1 accepts it"
