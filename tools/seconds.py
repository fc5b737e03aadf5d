"""`track dev bench DAY …`: where the seconds of a day's gradings go, cold and from `track watch`.

Import, CUDA and compilations are spans that the processes of a grading write (timing_spans.py); the rest are
the seconds of its checks. They overlap: builders compile while cases run, and a GPU wakes in two processes.
`waiting` is what of the compilations a case had to wait for.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal
from unittest import mock

from grader import timing_spans
from grader.cli.screens import Terminal
from grader.course import catalog
from grader.course.catalog import Day
from grader.grading.grade import choose_device, grade
from grader.grading.warm_client import Warm
from grader.verdict import Verdict

TIMES = 3  # gradings of each kind; medians are shown
EDITED = 2.0  # seconds between two saves, in which what stands by gets ready
COLUMNS = ("total", "first case", "import", "CUDA", "compiling", "waiting", "cases", "memory", "timing")


def run(names: Iterable[str], device: Literal["auto", "cpu", "gpu"]) -> int:
    """Prints a row for each day and kind of grading, in seconds."""
    where = choose_device(device)
    terminal = Terminal(sys.stdout)
    terminal.line(f"Seconds of a grading of our solution, medians of {TIMES}, Triton's cache empty ({where})")
    terminal.line(f"{'day':<6}{'kind':<7}" + "".join(f"{column:>12}" for column in COLUMNS))
    for day in [catalog.find(name) for name in names]:
        for kind in ("cold", "watch"):
            taken, failed = zip(*[_once(day, where, kind == "watch") for _ in range(TIMES)], strict=True)
            medians = [statistics.median(one[column] for one in taken) for column in COLUMNS]
            terminal.line(f"{day.key!s:<6}{kind:<7}" + "".join(f"{value:>12.1f}" for value in medians))
            for told in filter(None, failed):
                terminal.line(f"      {told}")
            terminal.stream.flush()
    return 0


def _once(day: Day, where: Literal["cpu", "gpu"], watched: bool) -> tuple[dict[str, float], str]:
    """The seconds of one grading, with nothing left of an earlier one; `watched`, by a parent that is up.

    And what it says where it fails our solution: its seconds are not those of a grading.
    """
    with tempfile.TemporaryDirectory() as folder:
        around = {timing_spans.VARIABLE: f"{folder}/spans.jsonl", "TRITON_CACHE_DIR": f"{folder}/cache"}
        with mock.patch.dict(os.environ, around):
            warm = Warm(where) if watched else None
            try:
                if warm:
                    warm.wait()
                    warm.stand_by()
                    time.sleep(EDITED if where == "gpu" else 0.0)
                    Path(around[timing_spans.VARIABLE]).unlink(missing_ok=True)  # of its imports
                return _taken(day, where, warm)
            finally:
                if warm:
                    warm.stop()


def _taken(day: Day, where: Literal["cpu", "gpu"], warm: Warm | None) -> tuple[dict[str, float], str]:
    first: list[float] = []
    begun = time.monotonic()

    def on_event(event: dict[str, Any]) -> None:
        if event["event"] == "checked" and event["check"]["name"].startswith("correct"):
            first.append(time.monotonic() - begun)

    verdict = grade(day, day.solution, device=where, warm=warm, on_event=on_event)
    total = time.monotonic() - begun
    found = timing_spans.read()
    split = {name: _summed(found, span) for name, span in SPANS.items()}
    taken = {"total": total, "first case": first[0] if first else 0.0, **split, **_checks(verdict)}
    return taken, _failure(verdict)


def _failure(verdict: Verdict) -> str:
    wrong = [check.name for check in verdict.checks if check.outcome in WRONG]
    return f"seed {verdict.seed}: {wrong[0]} {verdict.status}: {verdict.diagnosis}" if wrong else ""


WRONG = ("failed", "slow", "crashed", "timeout")
SPANS = {"import": "import", "CUDA": "cuda", "compiling": "compile", "waiting": "wait"}
GROUPS = {"cases": ("correct", "edges"), "memory": ("memory",), "timing": ("fast",)}


def _summed(found: list[dict[str, Any]], name: str) -> float:
    return float(sum(span["end"] - span["begin"] for span in found if span["name"] == name))


def _checks(verdict: Verdict) -> dict[str, float]:
    return {
        name: sum(check.seconds for check in verdict.checks if check.group in groups)
        for name, groups in GROUPS.items()
    }
