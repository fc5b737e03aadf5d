"""The warm parent: a process that has imported torch, triton and pytest once, and forks judges and runners.

    track ── control ── parent ─┬─ fork ── judge   (trusted: hidden tests, oracle, verdict)
                                └─ fork ── runner  (untrusted: the learner's file), asked for by a judge

A runner is forked from the parent and never from a judge, so no expected value was ever in its memory. The
parent runs
no torch operation and touches no CUDA: a forked child could not use either afterwards.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Literal

from grader.errors import CannotGrade
from grader.wire import Channel, Closed

Device = Literal["cpu", "gpu"]


class Warm:
    """The warm parent, seen from the command line.

    Args:
        device: `cpu` runs kernels in Triton's interpreter, `gpu` compiles them.

    Raises:
        CannotGrade: the parent could not be started (no torch, no triton, …); `wait` raises it.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        ours, theirs = socket.socketpair()
        self.log = Path(tempfile.mkstemp(prefix="track-", suffix=".log")[1])
        environment = dict(os.environ, PYTHONPATH=_import_path(), PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
        environment.pop("TRITON_INTERPRET", None)
        if device == "cpu":
            environment |= {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "grader.warm", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        theirs.close()
        self.control = Channel(ours)
        self.ready = False

    def wait(self) -> None:
        """Block until the imports are done.

        Raises:
            CannotGrade: they failed; the message is the last line the parent printed.
        """
        if self.ready:
            return
        try:
            self.control.receive(timeout=120)
        except Exception as error:
            raise CannotGrade(f"The grader could not start: {self.last_words()}", "track doctor") from error
        self.ready = True

    def judge(self, request: dict[str, Any]) -> Channel:
        """Fork a judge for `request` and return the channel on which its events arrive."""
        self.wait()
        try:
            self.control.send({"request": request})
            _, descriptors, _, _ = socket.recv_fds(self.control.sock, 1, 1)
        except (Closed, OSError) as error:
            raise CannotGrade(f"The grader stopped: {self.last_words()}", "track doctor") from error
        return Channel(socket.socket(fileno=descriptors[0]))

    def last_words(self) -> str:
        """The last line in the parent's log."""
        lines = self.log.read_text(errors="replace").split("\n") if self.log.exists() else []
        return next((line.strip() for line in reversed(lines) if line.strip()), "it printed nothing.")

    def stop(self) -> None:
        """End the parent and whatever it forked."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.control.close()

    def __enter__(self) -> Warm:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.log.unlink(missing_ok=True)


def _import_path() -> str:
    package = str(Path(__file__).resolve().parents[1])
    return os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH", "")]))


class Parent:
    """The loop of the warm parent.

    Args:
        control: the channel to the command line; when it closes, the parent ends.
    """

    def __init__(self, control: socket.socket) -> None:
        self.control = Channel(control)
        self.judges: list[Channel] = []

    def serve(self) -> None:
        """Fork on request until the command line is gone."""
        self.control.send({"ready": True})
        while True:
            readable, _, _ = select.select(
                [self.control.sock, *(judge.sock for judge in self.judges)], [], []
            )
            for judge in [judge for judge in self.judges if judge.sock in readable]:
                try:
                    self._answer(judge)
                except Closed:
                    self.judges.remove(judge)
                    judge.close()
            if self.control.sock in readable:
                try:
                    header, _ = self.control.receive()
                except Closed:
                    return
                self._fork_judge(header["request"])

    def _fork_judge(self, request: dict[str, Any]) -> None:
        events, events_theirs = socket.socketpair()
        parent, parent_theirs = socket.socketpair()
        if os.fork() == 0:
            _become({events_theirs.fileno(), parent_theirs.fileno()})
            from grader.judge.main import judge

            _run(lambda: judge(request, Channel(events_theirs), Channel(parent_theirs)))
        socket.send_fds(self.control.sock, [b"j"], [events.fileno()])
        for end in (events, events_theirs, parent_theirs):
            end.close()
        self.judges.append(Channel(parent))

    def _answer(self, judge: Channel) -> None:
        """A judge asks for a runner, or how one ended."""
        header, _ = judge.receive()
        if "ended" in header:
            judge.send({"code": _exit_code(int(header["ended"]))})
            return
        link, link_theirs = socket.socketpair()
        output, output_theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.dup2(output_theirs, 1)
            os.dup2(output_theirs, 2)
            _become({link_theirs.fileno()})
            from grader.runner.main import serve

            _run(lambda: serve(Channel(link_theirs)))
        judge.send({"pid": pid})
        socket.send_fds(judge.sock, [b"r"], [link.fileno(), output])
        for end in (link, link_theirs):
            end.close()
        for descriptor in (output, output_theirs):
            os.close(descriptor)


def ask_for_runner(parent: Channel) -> tuple[int, Channel, int]:
    """A judge's request to the parent: a fresh runner's pid, the channel to it, and the pipe of what it
    prints.
    """
    parent.send({"runner": True})
    header, _ = parent.receive()
    _, descriptors, _, _ = socket.recv_fds(parent.sock, 1, 2)
    return int(header["pid"]), Channel(socket.socket(fileno=descriptors[0])), descriptors[1]


def _become(keep: set[int]) -> None:
    """Give a fresh child only the descriptors it needs, and let it die with its parent."""
    import ctypes

    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    import torch

    torch.set_num_threads(1)  # a forked OpenMP pool hangs
    low = 3
    for descriptor in sorted(keep):
        os.closerange(low, descriptor)
        low = descriptor + 1
    os.closerange(low, os.sysconf("SC_OPEN_MAX") if os.sysconf("SC_OPEN_MAX") < 65536 else 65536)


def _run(body: Any) -> None:
    """Run a child's body and leave by `os._exit`, so that nothing of the parent's is torn down twice."""
    code = 70
    try:
        body()
        code = 0
    except Exception:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _exit_code(pid: int) -> int | None:
    """How a child ended (negative: the signal), None if it has not within a second."""
    for _ in range(200):
        try:
            done, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return None
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    return None


def main() -> None:
    """Import what every child needs, then serve."""
    import gc
    import importlib

    for module in (
        "torch",
        "triton.language",
        "pytest",
        "pytest_timeout",
        "grader.judge.main",
        "grader.judge.checks",
        "grader.runner.main",
    ):
        importlib.import_module(module)
    if os.environ.get("TRITON_INTERPRET") == "1":
        from grader.meter import repairs

        repairs.install()
    gc.freeze()  # the children share these pages as long as no collection touches them
    Parent(socket.socket(fileno=int(sys.argv[1]))).serve()


if __name__ == "__main__":
    main()
