"""A bench from the command line's side: holds the GPU, starts the process that times, keeps what it says.

That process runs the learner's code, and what ends it ends no bench: the kernel that had the GPU is noted,
and another process goes on with the rest.
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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.cli.benchmark import results
from grader.cli.benchmark.results import Machine, Result, key
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
        days: keys of the catalog, each with the files that are timed beside ours, by provider.
        sizes, every: as sweep.Wanted has them.
        only: the one provider that is wanted; all when empty.
        again: what was kept is measured anew.
        beside: providers that are timed again beside whatever is, for ratios of one run.
    """

    days: Mapping[int | str, Mapping[str, str]]
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
            CannotGrade: no process can be started that times, or it dies before it times anything.
            CannotWrite: the file cannot be written.
        """
        done = set() if self.wish.again else set(results.read(self.file).results)
        with queued(first_gpu(), alone=True):
            while not self._over(done):
                self.points.clear()

    def _over(self, done: set[str]) -> bool:
        """Starts a process and follows it to its end; False where another is to go on. Adds to `done`."""
        before = len(done)
        with tempfile.TemporaryFile() as log:
            process, channel = _start(log.fileno())
            trying: dict[str, Any] = {}
            try:
                channel.send(self._request(done))
                while True:
                    event, _ = channel.receive(SILENCE)
                    if event["event"] == "trying":
                        trying = event
                    elif event["event"] == "done":
                        return True
                    elif event["event"] == "dead":
                        return _worth(len(done) - before, log.fileno())
                    else:
                        self._take(event, done)
                    self.on_event(event)
            except (Closed, TimedOut) as lost:
                if isinstance(lost, TimedOut):
                    process.kill()
                if not trying:
                    raise CannotGrade(
                        f"Nothing could be timed: {_last_words(log.fileno())}", "track doctor"
                    ) from lost
                self._take(_lost(trying, self.gpu, process, lost), done)
                return False
            finally:
                _end(process, channel)

    def _request(self, done: set[str]) -> dict[str, Any]:
        days = [{"day": day, "files": dict(files)} for day, files in self.wish.days.items()]
        wish = {"sizes": self.wish.sizes, "every": self.wish.every, "only": self.wish.only}
        wish["beside"] = list(self.wish.beside)
        return {"days": days, **wish, "done": sorted(done), "versions": versions()}

    def _take(self, event: dict[str, Any], done: set[str]) -> None:
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
            result = results.from_json(event["result"])
            results.append(self.file, [result])
            done.add(result.key)


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


def _worth(more: int, log: int) -> bool:
    """False, which is to go on, as long as each process adds something.

    Raises:
        CannotGrade: it added nothing.
    """
    if not more:
        raise CannotGrade(f"The GPU does not answer any more: {_last_words(log)}", "track doctor")
    return False


def _lost(
    trying: dict[str, Any], gpu: str, process: subprocess.Popen[bytes], lost: Exception
) -> dict[str, Any]:
    """The result of whoever had the GPU when its process ended."""
    how = f"no answer within {SILENCE:.0f} s" if isinstance(lost, TimedOut) else ""
    if not how:
        process.wait()
        how = f"it ended the process that timed it ({process.returncode})"
    named = {"point": trying["point"], "gpu": gpu, "provider": trying["provider"], "stamp": trying["stamp"]}
    return {"event": "result", "result": {**named, "problem": how}}


def _last_words(log: int) -> str:
    printed = os.pread(log, os.fstat(log).st_size, 0).decode(errors="replace")
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    return lines[-1] if lines else "it printed nothing."
