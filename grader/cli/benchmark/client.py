"""A bench from the command line's side: holds the GPU, starts the process that times, keeps what it says.

That process runs the learner's code. What ends it is noted for the kernel that had the GPU; the same command
then goes on with the rest.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from grader.cli.benchmark import results
from grader.cli.benchmark.results import Machine, Point, Result, key
from grader.errors import CannotGrade, TrackError
from grader.grading.environment import PACKAGE, environment, first_gpu
from grader.grading.grade import queued, versions
from grader.wire import Channel, Closed, TimedOut

TIMES = [sys.executable, "-m", "grader.cli.benchmark.main"]
SILENCE = 300.0  # seconds without an event: a compiler may take as long for one kernel
PATIENCE = 5.0  # seconds that a process may take to end

OnEvent = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Wish:
    """What is to be measured.

    Attributes:
        days: by key, each with the files that are timed beside ours, by provider.
        sizes, every: as sweep.Wanted has them.
        only: the one provider that is wanted; all when empty.
        again: what was kept is measured anew.
        beside: providers that are timed again beside whatever is, for ratios of one run.
    """

    days: Mapping[str, Mapping[str, str]]
    sizes: str = ""
    every: bool = False
    only: str = ""
    again: bool = False
    beside: tuple[str, ...] = ()


@dataclass
class Bench:
    """One bench, whose results end up in `file` one by one.

    Attributes:
        gpu: its name, once a process has said it.
        points: what was asked for, as far as it was reached: of each the bar, and its providers' stamps.
        missing: packages that would have been timed, too.
    """

    wish: Wish
    file: Path
    on_event: OnEvent = lambda event: None
    gpu: str = ""
    points: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def machine(self) -> Machine:
        return results.read(self.file).machines[self.gpu]

    @property
    def asked(self) -> list[Result]:
        """What the file has of the points that were asked for, and of files as they are now."""
        kept = results.read(self.file).results
        keys = [key(self.gpu, bar, *one) for bar, stamps in self.points for one in stamps.items()]
        return [kept[one] for one in keys if one in kept]

    def run(self) -> None:
        """Measures what the file does not have yet.

        Raises:
            TrackError: nothing of it can be measured.
            CannotGrade: no process can be started that times, or it ended before it was done.
            CannotWrite: the file cannot be written.
        """
        done = set() if self.wish.again else set(results.read(self.file).results)
        with queued(first_gpu(), alone=True), tempfile.TemporaryFile() as log:
            process, channel = _start(log.fileno())
            trying: dict[str, Any] = {}
            try:
                channel.send({**asdict(self.wish), "done": sorted(done), "versions": versions()})
                while True:
                    event, _ = channel.receive(SILENCE)
                    if event["event"] == "done":
                        return
                    trying = event if event["event"] == "trying" else trying
                    self._take(event)
                    self.on_event(event)
            except (Closed, TimedOut) as lost:
                said = _last_words(log.fileno())
                if not trying:
                    raise CannotGrade(f"Nothing could be timed: {said}", "track doctor") from lost
                raise self._ended(trying, isinstance(lost, TimedOut), said) from lost
            finally:
                _end(process, channel)

    def _ended(self, trying: dict[str, Any], late: bool, said: str) -> CannotGrade:
        """Notes whoever had the GPU when its process ended, unless that said itself what went wrong."""
        how = f"no answer within {SILENCE:.0f} s" if late else "it ended the process that timed it"
        named = {"provider": trying["provider"], "stamp": trying["stamp"], "problem": how}
        lost = Result(Point(**trying["point"]), self.gpu, **named)
        if lost.key not in results.read(self.file).results:
            results.append(self.file, [lost])
        problem = f"The bench ended with {lost.provider} at {lost.point.case}: {said}"
        again = " without --again" * self.wish.again
        return CannotGrade(problem, f"The same command{again} goes on with the rest.")

    def _take(self, event: dict[str, Any]) -> None:
        """Keeps what an event brings."""
        if event["event"] == "refused":
            raise TrackError(event["text"], event["fix"])
        if event["event"] == "plan":
            self.missing = event["missing"]
        if event["event"] == "machine":
            machine = Machine(**event["machine"])
            self.gpu = machine.gpu
            results.append(self.file, [machine])
        if event["event"] == "point":
            self.points.append((event["point"]["bar"], event["stamps"]))
        if event["event"] == "result":
            results.append(self.file, [results.from_json(event["result"])])


def _start(log: int) -> tuple[subprocess.Popen[bytes], Channel]:
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [*TIMES, str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment("gpu"),
            cwd=PACKAGE,
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # Ctrl-C is ours to answer, or a kernel would be blamed for it
        )
    return process, Channel(ours)


def _end(process: subprocess.Popen[bytes], channel: Channel) -> None:
    """Ends it, and whoever compiles for it."""
    channel.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _last_words(log: int) -> str:
    printed = os.pread(log, os.fstat(log).st_size, 0).decode(errors="replace")
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    return lines[-1] if lines else "it printed nothing."
