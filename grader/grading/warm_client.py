"""The warm parent, seen from the command line: started once, asked for a judge at every grading."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Thread

from grader.errors import CannotGrade
from grader.grading.environment import PACKAGE, environment, first_gpu
from grader.request import Device, Request
from grader.wire import Channel, Closed

PATIENCE = 2.0  # seconds that a parent may take to end


class Warm:
    """The warm parent, seen from the command line.

    Args:
        device: `cpu` evaluates kernels, `gpu` runs them.
        gpu: which one, as CUDA_VISIBLE_DEVICES names it; where empty, the one that torch takes.

    Raises:
        CannotGrade: the parent could not be started (no torch, no triton, …); `wait` raises it.
    """

    def __init__(self, device: Device, gpu: str = "") -> None:
        self.device = device
        self.gpu = gpu or first_gpu()
        self.log = tempfile.TemporaryFile()  # noqa: SIM115  # no name: however this process ends, none stays
        self.abandoned = False
        self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "grader.grading.warm_parent", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            env=environment(self.device, self.gpu if self.device == "gpu" else ""),
            cwd=PACKAGE,  # what lies in the learner's folder must not shadow a module
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()
        self.control = Channel(ours)
        self.ready = False
        self.events: Channel | None = None  # of the grading at hand

    def wait(self) -> None:
        """Block until the imports are done; of another process where somebody ended the one that was there.

        Raises:
            CannotGrade: they failed; the message is the last line the parent printed.
        """
        if self.process.returncode is not None or (self.ready and self.process.poll() is not None):
            self._start()
        if self.ready:
            return
        try:
            self.control.receive(timeout=120)
        except Exception as error:
            self.stop()
            raise CannotGrade(f"The grader could not start: {self.last_words()}", "track doctor") from error
        self.ready = True

    def judge(self, request: Request) -> Channel:
        """Fork a judge for `request` and return the channel on which its events arrive."""
        self.wait()
        try:
            self.control.send(*request.to_wire())
            (events,) = self.control.descriptors(1)
        except Closed as error:
            raise CannotGrade(f"The grader stopped: {self.last_words()}", "track doctor") from error
        self.events = Channel(socket.socket(fileno=events))
        if self.abandoned:
            self.abandon()
        return self.events

    def abandon(self) -> None:
        """Let the grading at hand end with CannotGrade: for another thread than the one that waits for it."""
        self.abandoned = True
        if self.events:
            with contextlib.suppress(OSError):
                self.events.sock.shutdown(socket.SHUT_RDWR)

    def end_judges(self) -> None:
        """End those at work; the parent stays, and with it what it has imported."""
        with contextlib.suppress(Closed):
            self.control.send({"do": "end"})

    def stand_by(self) -> None:
        """On a GPU: have a judge and a runner ready for the next grading."""
        if self.ready and self.device == "gpu":
            with contextlib.suppress(Closed):
                self.control.send({"do": "stand by"})

    def last_words(self) -> str:
        """The last line that the parent printed."""
        handle = self.log.fileno()
        printed = os.pread(handle, os.fstat(handle).st_size, 0).decode(errors="replace")
        lines = [line.strip() for line in printed.split("\n") if line.strip()]
        return lines[-1] if lines else "it printed nothing."

    def stop(self) -> None:
        """End the parent and whatever it forked: by itself it also ends what a learner's code left behind."""
        self.control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self) -> Warm:
        return self

    def __exit__(self, *_: object) -> None:
        Thread(target=self._end).start()  # the verdict is there, and a CUDA context takes 0.2 s to end

    def _end(self) -> None:
        self.stop()
        self.log.close()


def new_log(prefix: str) -> Path:
    """A new, empty file for what a process prints."""
    handle, name = tempfile.mkstemp(prefix=prefix, suffix=".log")
    os.close(handle)
    return Path(name)
