"""The warm parent: a process that has imported torch and triton once, and forks judges and runners.

    track ── control ── parent ─┬─ fork ── judge   (trusted: hidden tests, oracle, verdict)
                                └─ fork ── runner  (untrusted: the learner's file), asked for by a judge

A runner is forked from the parent and never from a judge, so no expected value was ever in its memory. The
parent runs no torch operation and touches no CUDA: a forked child could not use either afterwards.

For what a compiler knows of kernels a judge is given a *builder*, and on a GPU, for what only the evaluator
sees, one that *evaluates*.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import socket
import sys
import time
from typing import Any

from grader import kernel
from grader.grading import preloaded_modules
from grader.grading.forking import adopt, end, fork_runner, hand_over, sweep
from grader.grading.standby_judge import Pair, fork_judge
from grader.timing_spans import span
from grader.wire import Channel, Closed

# What a judge may ask for.
EVALUATOR = "evaluator"
UNTRUSTED = {
    "runner": "grader.runner.main",
    EVALUATOR: "grader.runner.main",
    "builder": "grader.runner.compile_server",
}
IDLE = 600.0  # seconds that a judge and a runner stand by: their CUDA contexts hold 1 GB of the GPU's memory


class Parent:
    """The loop of the warm parent.

    Args:
        control: the channel to the command line; when it closes, the parent ends.
        standby: of the first grading, where somebody is.
    """

    def __init__(self, control: socket.socket, standby: Pair | None = None) -> None:
        self.control = Channel(control)
        self.judges: dict[Channel, list[int]] = {}  # and the processes forked for each
        self.ends: dict[Channel, float] = {}  # when a judge must be done, by time.monotonic()
        self.scratch: set[str] = set()  # folders that the command line removes, unless it was killed
        self.standby = standby

    def serve(self) -> None:
        """Fork on request until the command line is gone."""
        adopt()
        self.control.send({"ready": True})
        while True:
            watched = [self.control.sock, *(judge.sock for judge in self.judges)]
            readable, _, _ = select.select(watched, [], [], self._patience())
            late = [judge for judge, end in self.ends.items() if end <= time.monotonic()]
            for judge in late:
                self._bury(judge)
            if not readable and not late:
                self._dismiss()
            for judge in [judge for judge in self.judges if judge not in late and judge.sock in readable]:
                try:
                    self._answer(judge)
                except Closed:
                    self._bury(judge)
            if self.control.sock in readable:
                try:
                    self._obey(*self.control.receive())
                except Closed:
                    return self._leave()

    def _patience(self) -> float | None:
        """Seconds until something is to be done that nobody asks for."""
        waits = [max(0.0, end - time.monotonic()) for end in self.ends.values()]
        return min(waits + [IDLE] * bool(self.standby), default=None)

    def _obey(self, order: dict[str, Any], blobs: list[bytearray]) -> None:
        """The command line asks for a judge, that one stand by, or that those at work end."""
        if order["do"] == "end":
            for judge in list(self.judges):
                self._bury(judge)
        elif order["do"] != "stand by":
            self._give_judge(order, blobs)
        elif not kernel.EVALUATES:
            self._dismiss()
            self.standby = Pair()

    def _give_judge(self, request: dict[str, Any], blobs: list[bytearray]) -> None:
        judge = (self.standby and self.standby.take_judge()) or fork_judge()
        self.judges[judge.asks] = [judge.pid]
        if request["limit"]:
            self.ends[judge.asks] = time.monotonic() + request["limit"]
        self.scratch |= {request["scratch"]} - {""}
        try:
            self.control.hand_over([judge.events])
            with contextlib.suppress(Closed):  # it ended: its events end, too
                judge.asks.send(request, blobs)
        finally:
            os.close(judge.events)

    def _dismiss(self) -> None:
        if self.standby:
            self.standby.dismiss()
        self.standby = None

    def _leave(self) -> None:
        """The command line is gone: end everything."""
        sweep(set())
        for folder in self.scratch:
            shutil.rmtree(folder, ignore_errors=True)

    def _bury(self, judge: Channel) -> None:
        """A judge is done, or late: end it and what it left running, and collect all of it."""
        self.ends.pop(judge, None)
        for pid in self.judges.pop(judge)[::-1]:
            end(pid)
        judge.close()
        waiting = self.standby.pids if self.standby else set()
        sweep(waiting.union(*self.judges.values()))

    def _answer(self, judge: Channel) -> None:
        """A judge asks for a runner, or how one ended."""
        header, _ = judge.receive()
        if "ended" in header:
            pid = int(header["ended"])
            code, held = _exit_code(pid)
            if code is not None:
                self.judges[judge].remove(pid)
            judge.send({"code": code, "held": held})
            return
        kind = header["runner"]
        waiting = self.standby.take_runner() if self.standby and kind == "runner" else None
        pid, descriptors = waiting or fork_runner(UNTRUSTED[kind], evaluates=kind == EVALUATOR)
        self.judges[judge].append(pid)
        hand_over(judge, pid, descriptors)


def _exit_code(pid: int) -> tuple[int | None, int]:
    """How a child ended (negative: the signal), None if it has not within a second; and the most memory that
    it held, in bytes.
    """
    for _ in range(200):
        try:
            done, status, used = os.wait4(pid, os.WNOHANG)
        except ChildProcessError:
            return None, 0
        if done:
            return os.waitstatus_to_exitcode(status), used.ru_maxrss << 10
        time.sleep(0.005)
    return None, 0


def main() -> None:
    """Import what every child needs, then serve."""
    with span("import"):
        preloaded_modules.for_runners()
        # Its GPU wakes beside the imports that are left.
        standby = None if kernel.EVALUATES else Pair(first=True)
        preloaded_modules.for_judges()
    Parent(socket.socket(fileno=int(sys.argv[1])), standby).serve()
    os._exit(0)  # torch's own teardown takes a while


if __name__ == "__main__":
    main()
