"""What feeding costs: `track dev drill --empty N` hands in N different files, and nobody grades them."""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from grader import catalog
from grader.cohort.feed import Feed, Tally
from grader.cohort.handed import Submission
from grader.cohort.spread import Graders, cluster
from grader.cohort.store import Conditions, Store
from grader.cohort.worker import Device, Outcome
from grader.verdict import Check, Verdict

CASES = tuple(Check(f"correct[n={n}]", "passed", 0.1) for n in range(30))


def nothing(
    key: str,
    source: bytes,
    device: Device,
    seed: int | None,
    conditions: Conditions,
    private: tuple[str, ...],
) -> Outcome:
    """A verdict as long as others, without a grading."""
    sha256 = hashlib.sha256(source).hexdigest()
    return {"verdict": Verdict(int(key), "passed", 1, conditions.gpu, {}, CASES, sha256=sha256).to_json()}


class Idle(Graders):
    """Slots of Ray that do nothing."""

    @cached_property
    def _grade(self) -> Any:
        return self._remote(nothing)


def run(number: int) -> None:
    """Prints time and memory ten times on the way, and how long it takes once all is known."""
    with tempfile.TemporaryDirectory() as folder, cluster("local") as ray:
        idle = Idle(ray, "cpu")
        conditions = idle.conditions(strict=True)
        for told in (_Figures(number), lambda tally: None):
            begun = time.monotonic()
            with Store(Path(folder, "cohort.db"), conditions) as store:
                tally = Feed(store, idle, told).all(_different(number))
            each = (time.monotonic() - begun) / number * 1e3
            _say(f"{tally.graded.total()} graded, {tally.known} known: {each:.2f} ms each")


class _Figures:
    def __init__(self, number: int) -> None:
        self.step, self.told, self.spent = max(1, number // 10), 0, time.process_time()

    def __call__(self, tally: Tally) -> None:
        graded = tally.graded.total()
        if graded < self.told + self.step:
            return
        self.told = graded
        each, own = tally.seconds / graded * 1e3, (time.process_time() - self.spent) / graded * 1e3
        status = Path("/proc/self/status").read_text()
        memory = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
        _say(f"{graded}: {each:.2f} ms each, {own:.2f} ms of this process's CPU, {int(memory) >> 10} MiB")


def _different(number: int) -> Iterator[Submission]:
    day = catalog.find("1")
    return (Submission(f"file{n}", day, b"# %d\n" % n * 100) for n in range(number))


def _say(words: str) -> None:
    print(words, file=sys.stderr)  # cluster() keeps stdout from Ray
