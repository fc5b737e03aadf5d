"""`track dev steady FILE`: is the verdict on speed the same each time?

Of each bar the kernels nearest to it on either side, by `track dev measured`, and our solution: their speed
is graded again and again, each time by a new judge and a new runner. A right kernel must pass every single
time, a laggard be too slow.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from grader.cli.screens import Terminal
from grader.course.catalog import Day
from grader.errors import TrackError
from grader.grading.grade import choose_device
from grader.grading.warm_client import Warm
from tools import speed_bar_margins
from tools.check_planted import Planted, planned, sha256, speed_of
from tools.grade_in_parallel import each
from tools.measure import KEPT, record, timed
from tools.planted import Laggard

AT_ONCE = 3  # gradings: two get ready while the third has the GPU to itself


@dataclass(frozen=True)
class Graded:
    """The speed of one planted file, graded once.

    Attributes:
        sha256: of its source and of the hidden tests.
        status: of the verdict, or why there is none.
        ratio: how many times the needed speed was reached; 0 where it was not measured.
    """

    day: str
    kind: str
    name: str
    sha256: str
    status: str
    ratio: float

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.day, self.kind, self.name, self.sha256


def nearest(days: Sequence[Day], within: float) -> Iterator[Planted]:
    """Of each bar our solution, the slowest right kernel, and the fastest laggard that is meant for it.

    Args:
        within: those that are less than so many times faster or slower than is needed.
    """
    measured = timed(record(KEPT))
    for day in days:
        near: set[str] = set()
        for one in speed_bar_margins.held(day, measured):
            ours = [("ours", result.us) for name, result in measured[one.bar].items() if name == "ours"]
            times = [*ours, one.right, *([one.slow] if one.slow else [])]
            near |= {name for name, us in times if 1 / within < us / one.needed < within}
        yield from (one for one in planned(day, True) if _measured_as(one) in near)


def _measured_as(one: Planted) -> str:
    """Its name in `track dev measured`."""
    names = {"solution": "ours", "fast": "fast", "right": f"right: {one.name}", "laggard": one.name}
    return names.get(one.kind, "")


def run(
    file: Path, days: Sequence[Day], gradings: int, within: float
) -> Iterator[tuple[Planted, list[Graded]]]:
    """Each of `nearest` with what came of its gradings; those that the file has are not repeated.

    Raises:
        CannotGrade: there is no GPU that could be timed.
    """
    choose_device("gpu")
    kept = [Graded(**json.loads(line)) for line in _lines(file)]
    chosen = list(nearest(days, within))
    found = [[old for old in kept if old.key == _key(one)] for one in chosen]
    left = [at for at, have in enumerate(found) for _ in range(gradings - len(have))]
    for at, graded in zip(left, each(_graded, [chosen[at] for at in left], "gpu", AT_ONCE), strict=True):
        found[at].append(graded)
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(asdict(graded)) + "\n")
    yield from zip(chosen, found, strict=True)


def _lines(file: Path) -> list[str]:
    return file.read_text("utf-8").splitlines() if file.is_file() else []


def _key(one: Planted) -> tuple[str, str, str, str]:
    return str(one.day.key), one.kind, one.name, sha256(one)


def _graded(one: Planted, warm: Warm) -> Graded:
    try:
        verdict = speed_of(one, warm)
    except TrackError as error:
        return Graded(*_key(one), f"{error}", 0.0)
    return Graded(*_key(one), verdict.status, verdict.speed.ratio if verdict.speed else 0.0)


def _wanted(one: Planted) -> str:
    """The status that it must get; a laggard that stores too much fails `memory` before it is timed."""
    if isinstance(one.file, Laggard):
        return "failed" if one.file.stores else "slow"
    return "passed"


def report(terminal: Terminal, file: Path, days: Sequence[Day], gradings: int, within: float) -> int:
    """Prints a line a kernel; 1 if one got another verdict than it must.

    Raises:
        CannotGrade: there is no GPU that could be timed.
    """
    rows = [("", "day", "kernel", "verdicts", "× the needed speed")]
    flips = 0
    for one, found in run(file, days, gradings, within):
        wanted = _wanted(one)
        counts = Counter(graded.status for graded in found)
        other = len(found) - counts[wanted]
        flips += other
        said = ", ".join(f"{count} {status}" for status, count in counts.most_common())
        ratios = sorted(graded.ratio for graded in found if graded.ratio) or [0.0]
        mark = terminal.mark("failed" if other else "passed")[0]
        rows.append(
            (mark, one.day.label, f"{one.kind}: {one.name}", said, f"{ratios[0]:.3f} to {ratios[-1]:.3f}")
        )
    terminal.table(rows)
    terminal.line(f"{flips} of these verdicts are not what they must be.")
    return 1 if flips else 0
