"""Times on this machine's GPU, to hold predictions and bars against: `track dev measured FILE [DAY …]`.

Every solution, right alternative and laggard on every bar of its day, in turns with torch, torch.compile,
libraries and a copy, as `track bench` times them; and what the driver says of their kernels.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.cli.benchmark import results
from grader.cli.benchmark.client import Bench, Wish
from grader.cli.benchmark.contenders import gluon_files
from grader.cli.benchmark.libraries import GLUON
from grader.cli.benchmark.results import Kept, Result, digest
from grader.cli.benchmark.sweep import OWN
from grader.cli.screens import Terminal
from grader.cli.screens.bench import Live
from grader.course import catalog
from grader.course.catalog import Day
from grader.errors import TrackError, pasted
from grader.grading.grade import choose_device
from tools import planted

TORCH = ("eager", "compile")
KEPT = catalog.ROOT / "tools" / "measured.jsonl"  # the times that the pages of solutions show


def kernels(day: Day) -> Iterator[tuple[str, str, str]]:
    """Name, source, and why the meter cannot see it: our solutions, right alternatives, laggards."""
    yield "ours", day.solution.read_text(encoding="utf-8"), ""
    if day.fast_solution.is_file():
        yield "fast", day.fast_solution.read_text(encoding="utf-8"), ""
    for path in planted.right(day):
        yield f"right: {path.stem}", path.read_text(encoding="utf-8"), ""
    for laggard in planted.laggards(day):
        yield laggard.name, laggard.source(day), laggard.unseen


def record(path: Path) -> Kept:
    """What such a file holds.

    Raises:
        TrackError: nothing.
    """
    kept = results.read(path)
    if not kept.machines:
        raise TrackError(f"{path} holds no measurement.", f"track dev measured {pasted(path)}, on a GPU")
    return kept


def timed(kept: Kept) -> dict[str, dict[str, Result]]:
    """By bar and kernel what was measured where a grading times, on the GPU that was measured last.

    What was planted and has changed since is left out: its time is another kernel's.
    """
    found: dict[str, dict[str, Result]] = {}
    every = {key: hashes(catalog.find(str(key))) for key in {one.point.day for one in kept.results.values()}}
    for result in kept.newest(list(kept.machines)[-1]):
        own = every[result.point.day].get(result.provider)
        if result.point.timed and result.stamp.startswith(own or ""):
            found.setdefault(result.point.bar, {})[result.provider] = result
    return found


def hashes(day: Day) -> dict[str, str]:
    """By name how the stamp of a planted kernel begins, or of an extra beside it, as its source is today."""
    own = {name: digest(source.encode()) for name, source, _ in kernels(day)}
    others = [gluon_files(one) for (place, _), one in GLUON.items() if place == day.place]
    return own | {name: digest(file.source) for each in others for name, file in each.items()}


def planted_files(day: Day, folder: Path) -> dict[str, str]:
    """By name the path of each file that is timed beside our solutions."""
    found = {}
    for number, (name, source, _) in enumerate(kernels(day)):
        if name not in ("ours", "fast"):
            path = folder / f"{day.stem}_{number}.py"
            path.write_text(source, encoding="utf-8")
            found[name] = str(path)
    return found


def run(file: Path, days: Sequence[Day]) -> Iterator[str]:
    """Measures what the file does not have yet; what could not be timed, a line each.

    Raises:
        CannotGrade: there is no GPU that could be timed.
    """
    choose_device("gpu")
    live = Live(Terminal(sys.stderr))
    with tempfile.TemporaryDirectory() as folder, live:
        files = {str(day.key): planted_files(day, Path(folder)) for day in days}
        wish = Wish(files, sizes=OWN, beside=TORCH)
        bench = Bench(wish, file.resolve(), live)
        bench.run()
    for result in bench.asked:
        if result.problem:
            yield f"{result.point.bar}, {result.provider}: {result.problem}"
