"""A judge that waits for its request, and on a GPU a runner beside it, both with their CUDA context.

Between two gradings of `track watch` there is time to make them: the next one then begins with its first
case, 0.7 s earlier on an H200. Each serves one grading, like those that are forked when it is asked for.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
from dataclasses import dataclass

from grader.grading.forking import become, collected, end, fork_runner, run
from grader.request import Request
from grader.wire import Channel, Closed


@dataclass
class Waiting:
    """A judge that nobody has asked for anything yet.

    Attributes:
        asks: where it expects the request, and will ask for runners.
        events: the descriptor on which its events will arrive.
    """

    pid: int
    asks: Channel
    events: int

    def close(self) -> None:
        """Let go of what leads to it."""
        self.asks.close()
        os.close(self.events)


def fork_judge(*, awake: bool = False) -> Waiting:
    """A judge; `awake`, it wakes its GPU before it waits."""
    (asks, asks_theirs), (events, events_theirs) = socket.socketpair(), socket.socketpair()
    pid = os.fork()
    if pid == 0:
        become({asks_theirs.fileno(), events_theirs.fileno()})
        run(lambda: _judge(Channel(asks_theirs), Channel(events_theirs), awake=awake))
    asks_theirs.close()
    events_theirs.close()
    return Waiting(pid, Channel(asks), events.detach())


def _judge(asks: Channel, events: Channel, *, awake: bool) -> None:
    from grader.judge import main
    from grader.judge.cuda_init import rehearse, wake
    from grader.judge.inspection import inspect

    if awake:
        with contextlib.suppress(Exception):  # the grading will wake it again, and say what keeps it from it
            wake()
            rehearse(enough=lambda: bool(select.select([asks.sock], [], [], 0)[0]))
    try:
        request = Request.from_wire(*asks.receive())
    except Closed:
        return
    body = main.judge if request.do == "grade" else inspect.answer
    body(request, events, asks)


class Pair:
    """A judge and a runner on a GPU, ahead of their grading; before the first one only the runner."""

    def __init__(self, *, first: bool = False) -> None:
        self.judge: Waiting | None = None if first else fork_judge(awake=True)
        self.runner: tuple[int, list[int]] | None = fork_runner("grader.runner.main")

    @property
    def pids(self) -> set[int]:
        """Of those that nobody took."""
        return {one for one in (self.judge and self.judge.pid, self.runner and self.runner[0]) if one}

    def take_judge(self) -> Waiting | None:
        """The judge, once, if it is still there."""
        judge, self.judge = self.judge, None
        return judge if judge and not collected(judge.pid) else None

    def take_runner(self) -> tuple[int, list[int]] | None:
        """The runner's pid and descriptors, once, if it is still there."""
        runner, self.runner = self.runner, None
        return runner if runner and not collected(runner[0]) else None

    def dismiss(self) -> None:
        """End those that nobody took."""
        for pid in self.pids:
            end(pid)
        if self.judge:
            self.judge.close()
        for descriptor in self.runner[1] if self.runner else ():
            os.close(descriptor)
        self.judge = self.runner = None
