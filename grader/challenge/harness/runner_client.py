"""The judge's end of a runner: commands and bytes out, answers back, and a reason when a runner is lost."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import signal
import socket
import threading
import time
from pathlib import Path
from typing import Any, Literal

import torch

from grader.challenge import Challenge
from grader.challenge.harness import message_validation, timeouts
from grader.challenge.harness.message_validation import Form, Misfit
from grader.challenge.loading import load_challenges
from grader.course.learner.earlier_kernels import Earlier, taken
from grader.cuda_ipc import Unlendable, lent
from grader.request import Request
from grader.runner_answers import Borrowed, Confined, Failed, Loaded
from grader.wire import NO_MEMORY, WHERE, Channel, Closed, Malformed, TimedOut

OUTPUT_KEPT = 4096  # bytes of what the learner prints; the rest is read and dropped

MAX_ANSWER = 6 << 30  # bytes; the largest result of the course has 2**31 elements of 16 bits
SAYS = 0.3  # seconds that a late one has to say where it is
# Bytes. With torch, triton and the arguments of a case a process holds 0.2 GiB, on a GPU some GiB.
MUCH = 4 << 30  # of one that is late: half of what it may take without a GPU
KILLED = 1 << 30  # of one that the system killed
LENT = 8 << 20  # bytes, from which on they are worth lending


_taken = functools.cache(taken)
_one_question = threading.Lock()  # at a time, and its answer, on the channel to the parent


class RunnerLost(Exception):
    """The runner crashed, hung or left. `outcome` is a check's outcome, `reason` one line, `lines` those of
    the learner's file that it was at, innermost first, where it said so; `starved`: for want of memory;
    `compiling`: Triton was not done with what it launches.
    """

    def __init__(
        self,
        outcome: Literal["crashed", "timeout"],
        reason: str,
        code: int | None = None,
        lines: tuple[int, ...] = (),
        starved: bool = False,
    ) -> None:
        super().__init__(reason)
        self.outcome, self.reason, self.code, self.lines = outcome, reason, code, lines
        self.starved = starved
        self.compiling = False


class Runner:
    """A runner process with the learner's file to load.

    Args:
        parent: the judge's channel to the warm parent.
        kind: `runner`, `builder` compiles, `evaluator` launches nothing on a GPU.
    """

    def __init__(self, parent: Channel, kind: str = "runner") -> None:
        self.parent, self.kind = parent, kind
        with _one_question:
            parent.send({"runner": kind})
            self.pid = int(parent.receive()[0]["pid"])
            link, pipe = parent.descriptors(2)
        self.channel = Channel(socket.socket(fileno=link))
        self.confined: Confined | None = None
        self.borrows = True  # until it could not
        self.path = ""  # of the learner's file, once it was asked to load it
        self.printed, self.traceback = bytearray(), bytearray()
        self._late = threading.Event()
        self._reader = threading.Thread(target=self._drain, args=(pipe,), daemon=True)
        self._reader.start()

    def _drain(self, pipe: int) -> None:
        while chunk := os.read(pipe, 1 << 16):
            kept = self.traceback if self._late.is_set() else self.printed
            kept += chunk[: max(0, OUTPUT_KEPT - len(kept))]
        os.close(pipe)

    def ask_with(
        self, command: dict[str, Any], form: type[Form], storages: list[torch.Tensor], *, timeout: float
    ) -> tuple[Form | Failed, list[bytearray]]:
        """`ask`, with storages that are lent where they are large and lie on a GPU.

        Raises:
            RunnerLost: as `ask`.
        """
        large = sum(map(len, storages)) >= LENT and all(storage.is_cuda for storage in storages)
        over = large and self.borrows and self._lends(storages, timeout)
        return self.ask({**command, "borrowed": over}, form, () if over else storages, timeout=timeout)

    def _lends(self, storages: list[torch.Tensor], timeout: float) -> bool:
        """Whether these came over; where they do not, no others will."""
        try:
            with lent(storages) as note:
                answer, _ = self.ask({"do": "borrow", "lent": note}, Borrowed, timeout=timeout)
                self.borrows = isinstance(answer, Borrowed) and answer.possible
        except Unlendable:
            self.borrows = False
        return self.borrows

    def ask(
        self, command: dict[str, Any], form: type[Form], blobs: Any = (), *, timeout: float
    ) -> tuple[Form | Failed, list[bytearray]]:
        """Send one command and wait for its answer.

        Args:
            form: of the answer, unless the learner's code raised.
            blobs: bytes, or uint8 tensors.

        Raises:
            RunnerLost: no answer came, or none that can be used; the runner is dead then.
        """
        try:
            self.channel.send(command, [_on_cpu(blob) for blob in blobs])
        except Closed:
            raise self._lost() from None
        answer, data = self._receive(timeout)
        try:
            if "fault" in answer:
                return message_validation.read(Failed, answer), data
            return message_validation.read(form, answer), data
        except Misfit:
            self.kill()
            raise RunnerLost("crashed", "the process sent an answer that was not asked for") from None

    def _receive(self, timeout: float) -> tuple[dict[str, Any], list[bytearray]]:
        try:
            if not timeouts.answers(self.channel.sock, self.pid, timeout):
                raise TimedOut
            return self.channel.receive(timeout, MAX_ANSWER)
        except TimedOut:
            lines, held = self._at(), timeouts.held(self.pid)
            self.kill()
            much = held > MUCH
            said = f", and by then it held {held / 2**30:.1f} GiB of memory" if much else ""
            raise RunnerLost(
                "timeout", f"no answer after {timeout:.0f} s{said}", lines=lines, starved=much
            ) from None
        except Malformed as error:
            self.kill()
            raise RunnerLost("crashed", f"the process sent no answer that can be read ({error})") from None
        except Closed:
            raise self._lost() from None

    def _at(self) -> tuple[int, ...]:
        """The lines of the learner's file that it is at: it prints its stack if asked (forking.py)."""
        self._late.set()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, WHERE)
        until, before = time.monotonic() + SAYS, -1
        while time.monotonic() < until and not 0 < len(self.traceback) == before:
            before = len(self.traceback)
            time.sleep(0.02)
        frame = rf'File "{re.escape(self.path)}", line (\d+) in (a kernel)?'
        found = re.findall(frame, self.traceback.decode(errors="replace"))
        return tuple(int(line) for line, kernel in sorted(found, key=lambda one: not one[1]))

    def _lost(self) -> RunnerLost:
        with _one_question:
            self.parent.send({"ended": self.pid})
            told = self.parent.receive()[0]
        code = told["code"]
        if code is None:
            self.kill()
            return RunnerLost("crashed", "the process closed its connection")
        if code == -signal.SIGSEGV or code == -signal.SIGBUS:
            return RunnerLost("crashed", "the process died of a segmentation fault", code)
        if code == -signal.SIGKILL:
            said = f"the process was killed when it held {told['held'] / 2**30:.1f} GiB of memory"
            return RunnerLost("crashed", said, code, starved=told["held"] > KILLED)
        # C++ aborts where it gets no memory.
        if code == NO_MEMORY or (code == -signal.SIGABRT and told["held"] > KILLED):
            return RunnerLost("crashed", "the process asked for more than it may take", code, starved=True)
        if code < 0:
            return RunnerLost("crashed", f"the process died of signal {signal.Signals(-code).name}", code)
        return RunnerLost("crashed", f"the process left by itself with exit code {code}", code)

    def confine(self, request: Request) -> None:
        """Have it give up what the learner's code has no need of.

        Raises:
            RunnerLost: it did not survive that.
            RuntimeError: it failed, which is no fault of the learner's.
        """
        folders = (request.path.parent, request.provided, *(one.day.provided for one in _mine(request)))
        shown = [str(folder) for folder in folders if folder.is_dir()]
        asked = {"do": "confine", "hidden": request.hidden or [], "shown": shown, "scratch": request.scratch}
        command = {**asked, "on_cpu": request.device == "cpu"}
        told, _ = self.ask(command, Confined, timeout=request.call_timeout)
        if isinstance(told, Failed):
            raise RuntimeError(f"a process could not be confined: {told.fault.message}")
        self.confined = told

    def kill(self) -> None:
        """End the runner."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the runner and collect what it printed."""
        self.kill()
        self.channel.close()
        self._reader.join(timeout=1)


def _mine(request: Request) -> tuple[Earlier, ...]:
    """What the learner's file takes from earlier days, the same all grading long."""
    return _taken(request.hidden_tests, request.path, request.source)


@functools.cache
def made_by(hidden_tests: Path) -> dict[str, list[Any]]:
    """Of each entry of a day that takes other things than tensors, what is made of those."""
    every = {one.entry: made_of(one) for one in load_challenges(hidden_tests)}
    return {entry: made for entry, made in every.items() if made}


def made_of(challenge: Challenge) -> list[Any]:
    """What a runner makes of tensors before it calls the entry, as messages have it."""
    return [[one.at, one.kind, one.count] for one in challenge.made]


def ask_to_load(runner: Runner, request: Request, **more: Any) -> Loaded | Failed:
    """Have a runner, or a builder, import the learner's file, confined where that was asked for.

    Raises:
        RunnerLost: it did not survive that.
    """
    runner.path = str(request.path)
    if request.scratch:
        runner.confine(request)
    mine = {one.name: [one.path, one.source, str(one.day.provided)] for one in _mine(request)}
    command = {"do": "load", "path": runner.path, "provided": str(request.provided), "mine": mine}
    command |= {"made": made_by(request.hidden_tests), **more}
    return runner.ask(command, Loaded, [request.source], timeout=request.call_timeout)[0]


def _on_cpu(blob: Any) -> Any:
    return blob.cpu().numpy().data if isinstance(blob, torch.Tensor) else blob
