"""`track dev bench`: the figures the course promises, measured here."""

from __future__ import annotations

import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.cli.screens import Terminal
from grader.course import catalog
from grader.course.catalog import Day
from grader.course.learner import journal
from grader.course.setup.nvidia import has_nvidia_gpu
from grader.grading.grade import grade
from grader.grading.warm_client import Warm

DAY = 13
WRITERS, APPENDS = 8, 500
GRADINGS = 20


@dataclass(frozen=True)
class Figure:
    """One promise: what was measured, in `unit`, and the range it has to fall in."""

    name: str
    measured: float
    unit: str
    least: float
    most: float

    @property
    def kept(self) -> bool:
        return self.least <= self.measured <= self.most

    @property
    def target(self) -> str:
        if self.least == self.most:
            return f"{self.most:g} {self.unit}"
        least = f"{self.least:g} to" if self.least > 0 else "≤"
        return f"{least} {self.most:g} {self.unit}"


def run() -> int:
    """Prints each figure as it is measured; returns 1 if one misses its target."""
    terminal = Terminal(sys.stdout)
    kept = True
    terminal.table([("", "figure                                            ", "measured", "target")])
    for figure in _figures():
        kept &= figure.kept
        measured = f"{figure.measured:.3g} {figure.unit}"
        mark = terminal.mark("passed" if figure.kept else "failed")
        terminal.line(mark, f"  {figure.name:<48}  {measured:>10}  {figure.target}", indent=2)
        terminal.stream.flush()
    return 0 if kept else 1


def _figures() -> Iterator[Figure]:
    day = catalog.find(str(DAY))
    yield Figure("track status", _ms(lambda: _track("status"), 10), "ms", 0, 150)
    yield from _launcher()
    solved = ("grade", str(DAY), "--file", str(day.solution), "--cpu")
    yield Figure("first event of a cold grading on the screen", _first_event(*solved), "s", 0, 1.5)
    cold = _ms(lambda: _track(*solved), 3) / 1e3
    yield Figure(f"day {DAY}'s solution graded cold on the CPU", cold, "s", 0, 6)
    yield Figure(f"day {DAY}'s solution graded from a warm parent", _warm(day), "s", 0, 1.5)
    lost = WRITERS * APPENDS - _appended()
    yield Figure(f"journal: {WRITERS} writers × {APPENDS} appends, lost", lost, "records", 0, 0)
    if has_nvidia_gpu():
        yield from _on_gpu(day)


def _ms(call: Callable[[], object], times: int) -> float:
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken) * 1e3


def _track(*arguments: str) -> str:
    """A `track` command in a process of its own, away from any workspace."""
    with tempfile.TemporaryDirectory() as empty:
        command = [sys.executable, "-m", "grader", *arguments]
        ran = subprocess.run(command, cwd=empty, env=_here(), capture_output=True, text=True, check=False)
        return ran.stdout


def _here() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(catalog.ROOT), "TRACK_HOME": ""}


def _launcher() -> Iterator[Figure]:
    script = catalog.ROOT / ".venv" / "bin" / "track"
    if not script.exists():
        return
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "check": True}
    with_it = _ms(lambda: subprocess.run([catalog.ROOT / "track", "--version"], **quiet), 20)
    without = _ms(lambda: subprocess.run([script.with_name("python"), script, "--version"], **quiet), 20)
    yield Figure("what ./track adds to a command", max(with_it - without, 0), "ms", 0, 50)


def _first_event(*arguments: str) -> float:
    """Seconds until the second line: the first is the day's name, the second the first event."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "grader", *arguments]
    with subprocess.Popen(command, env=_here(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        process.stdout.readline()
        taken = time.perf_counter() - begun
        process.stdout.read()
    return taken


def _warm(day: Day) -> float:
    with Warm("cpu") as warm:
        grade(day, day.solution, warm=warm)
        return _ms(lambda: grade(day, day.solution, warm=warm), 5) / 1e3


def _appended() -> int:
    """Records that can be read after every writer has written its own, all at once."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.jsonl"
        writers = [multiprocessing.Process(target=_append, args=(path, n)) for n in range(WRITERS)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        return len(journal.read(path).records)


def _append(path: Path, writer: int) -> None:
    for count in range(APPENDS):
        journal.append(path, "hint", DAY, tier=1, writer=writer, count=count)


def _on_gpu(day: Day) -> Iterator[Figure]:
    graded = ("grade", str(DAY), "--gpu", "--json", "--file")
    laggard = catalog.ROOT / "tests" / "laggards" / day.stem / "unfused.py"
    begun = time.perf_counter()
    _track(*graded, str(day.solution))
    yield Figure(f"day {DAY} graded with speed on the GPU", time.perf_counter() - begun, "s", 0, 20)
    passes = _passes(*graded, str(day.solution))
    yield Figure(f"{GRADINGS} gradings of the solution, passed", passes, "times", GRADINGS, GRADINGS)
    yield Figure(f"{GRADINGS} gradings of the laggard, passed", _passes(*graded, str(laggard)), "times", 0, 0)
    yield Figure("the same copy timed against itself", _self_test(), "×", 0.98, 1.02)


def _passes(*arguments: str) -> int:
    return sum(json.loads(_track(*arguments))["status"] == "passed" for _ in range(GRADINGS))


def _self_test() -> float:
    """A/A: the stopwatch of the speed check on two equal copies, in turns."""
    import torch

    from grader.performance.timing.stopwatch import Stopwatch

    source = torch.zeros(256 << 20, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    watches = [Stopwatch(target.copy_, [source], []) for _ in range(2)]
    times: tuple[list[float], list[float]] = ([], [])
    for watch in watches:
        watch.warm_up()
    for _ in range(15):
        for watch, taken in zip(watches, times, strict=True):
            taken.append(statistics.median(watch.round(10, range(1, 11))))
    return statistics.median(times[0]) / statistics.median(times[1])
