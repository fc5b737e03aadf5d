"""Processes killed in mid-grading: `track dev faults [--times N] [--seed N] [--role ROLE] [--strict]`.

Each time a right or a wrong file of day 1 is graded in a workspace, and at a random moment one of the
processes that take part gets SIGKILL. Then must hold: no wrong file passed; the journal has every line that
it had, and one more for each verdict that was given; no process, lock or file is left; and the next grading
passes a right file and fails a wrong one.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.course import catalog
from grader.course.learner import journal
from grader.course.learner.workspace import Workspace
from grader.errors import TrackError
from grader.grading.grade import grade
from grader.grading.warm_client import Warm
from grader.verdict import Verdict
from tools import planted
from tools.fault_injection.processes import ROLES, left, of_role

DAY = catalog.find("1")
EVENTS = 40
KEPT = "track-crash-"  # files with the details of a failure of ours, which it names


@dataclass
class Place:
    """Where the gradings of one run happen: a workspace, and a folder for temporary files.

    Attributes:
        mark: stands in the environment of every process that belongs to this run.
    """

    root: Path
    strict: bool
    mark: str = f"TRACK_FAULTS={os.getpid()}"
    warm: Warm = field(default_factory=lambda: Warm("cpu"))

    @property
    def workspace(self) -> Workspace:
        return Workspace(self.root / "my-track")

    def write(self, right: bool) -> None:
        """Put a right kernel, or a wrong one, where it is graded."""
        path = self.workspace.kernel(DAY)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(DAY.solution.read_text() if right else planted.mistakes(DAY)[0].source(DAY))

    def left(self) -> Iterator[str]:
        """What should not be there, in words."""
        for pid in left(self.mark, {os.getpid(), self.warm.process.pid}):
            yield f"process {pid} is left"
        for path in (self.root / "tmp").iterdir():
            if path.suffix == ".lock":
                with path.open() as file, suppress(OSError):
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    continue
                yield f"{path.name} is held"
            elif not path.name.startswith(KEPT):
                yield f"{path.name} is left"


@dataclass
class Killer:
    """Kills a process of a role some time after the n-th event of a grading, or as soon as there is one."""

    role: str
    after: int
    delay: float
    parent: int
    killed: bool = False
    over: threading.Event = field(default_factory=threading.Event)

    @classmethod
    def drawn(cls, role: str, rng: random.Random, parent: int) -> Killer:
        """At a random moment: a grading of day 1 has some forty events, hundredths of a second apart."""
        return cls(role, rng.randrange(1, EVENTS), rng.uniform(0, 0.1), parent)

    def __call__(self, event: dict[str, Any]) -> None:
        self.after -= 1
        if self.after == 0:
            threading.Thread(target=self._kill, daemon=True).start()

    def _kill(self) -> None:
        self.over.wait(self.delay)
        while not self.killed and not self.over.is_set():
            for pid in of_role(self.role, self.parent)[:1]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    self.killed = True
            self.over.wait(0.005)


def strike(place: Place, role: str, rng: random.Random) -> list[str] | None:
    """Grade once and kill; what should not be, in words. None where nobody played the role in time."""
    right = rng.random() < 0.5
    place.write(right)
    before = journal.read(place.workspace.journal)
    killed, given = _command_line(place, rng) if role == "command line" else _in_process(place, role, rng)
    problems = [f"a wrong file: {status}" for status in given if status == "passed" and not right]
    after = journal.read(place.workspace.journal)
    told = [record["status"] for record in after.records[len(before.records) :]]
    if after.records[: len(before.records)] != before.records or after.skipped:
        problems.append("the journal lost a line")
    # A command line that was killed may have written its verdict down, but never said so.
    if told != given and not (role == "command line" and told in ([], ["passed" if right else "failed"])):
        problems.append(f"the journal says {told} of {given}")
    problems += place.left()
    for good, only in ((True, None), (False, "n=8-")):
        place.write(good)
        verdict = grade(DAY, place.workspace.kernel(DAY), warm=place.warm, only=only)
        if (verdict.status == "passed") != good or _unknown(verdict):
            problems.append(f"the next grading of a {'right' if good else 'wrong'} file: {verdict.status}")
    return problems if killed else None


def _unknown(verdict: Verdict) -> bool:
    """Whether the compiler was not asked, as where nobody compiles any more."""
    return any(check.group == "compiles" and check.outcome == "not measured" for check in verdict.checks)


def _in_process(place: Place, role: str, rng: random.Random) -> tuple[bool, list[str]]:
    """Grade with the warm parent at hand; whether somebody was killed, and the verdict's status."""
    killer = Killer.drawn(role, rng, place.warm.process.pid)
    given: list[str] = []
    try:
        kernel = place.workspace.kernel(DAY)
        verdict = grade(DAY, kernel, warm=place.warm, on_event=killer, strict=place.strict)
        journal.append(place.workspace.journal, "graded", DAY.key, **journal.summary(verdict))
        given = [verdict.status]
    except TrackError as error:
        if error.exit_code != 3:
            raise
    killer.over.set()
    return killer.killed, given


def _command_line(place: Place, rng: random.Random) -> tuple[bool, list[str]]:
    """Start `track grade` and kill it; the status that it printed before, if it did."""
    command = [sys.executable, "-m", "grader", "grade", "1", "--cpu", "--json"]
    command += ["--strict"] if place.strict else []
    process = subprocess.Popen(
        command, cwd=place.workspace.root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        printed, _ = process.communicate(timeout=rng.uniform(0, 8))
    except subprocess.TimeoutExpired:
        process.kill()
        printed, _ = process.communicate()
    return process.returncode == -signal.SIGKILL, [json.loads(printed)["status"]] if printed else []


def main() -> None:
    parser = argparse.ArgumentParser(
        "track dev faults", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=200, help="how often; 200 unless told")
    parser.add_argument("--seed", type=int, default=1, help="of whom, when, and in which grading")
    parser.add_argument("--role", choices=ROLES, action="append", help="kill these alone")
    parser.add_argument("--strict", action="store_true", help="in confined gradings")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="track-faults-") as folder:
        failed = run(Path(folder), chosen.times, chosen.seed, chosen.role or ROLES, chosen.strict)
    sys.exit(1 if failed else 0)


def run(folder: Path, times: int, seed: int, roles: Sequence[str], strict: bool) -> int:
    """Kill so many times; prints how many gradings of each role ended well, and returns how many did not."""
    for name in ("tmp", "my-track/.track"):
        (folder / name).mkdir(parents=True)
    os.environ |= {"TMPDIR": str(folder / "tmp"), "TRACK_FAULTS": str(os.getpid())}
    tempfile.tempdir = None
    place, rng = Place(folder, strict), random.Random(seed)
    struck: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    try:
        while struck.total() < times:
            role = rng.choice(list(roles))
            problems = strike(place, role, rng)
            struck[role] += problems is not None
            bad[role] += bool(problems)
            for problem in problems or ():
                print(f"{role}, {struck.total()}: {problem}", flush=True)
    finally:
        place.warm.stop()
    for role in roles:
        print(f"{role:<20}{struck[role] - bad[role]}/{struck[role]}")
    return bad.total()


if __name__ == "__main__":
    main()
