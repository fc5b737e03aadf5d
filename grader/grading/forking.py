"""Children of a warm parent: forked, given what they need, and handed to whoever asked."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

from grader import kernel
from grader.wire import NO_MEMORY, WHERE, Channel

PATIENCE = 1.0  # seconds that the killed ones of a round may take to end
ROUNDS = 100  # in which what a learner's code left behind is ended; each ends what the one before set free


def fork_runner(module: str, evaluates: bool = False) -> tuple[int, list[int]]:
    """A child that runs `serve` of `module`: its pid, the socket to it, and the pipe of what it prints.

    Args:
        evaluates: it has no GPU, whatever this process has.
    """
    link, link_theirs = socket.socketpair()
    output, output_theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(output_theirs, 1)
        os.dup2(output_theirs, 2)
        faulthandler.register(WHERE, all_threads=False)
        become({link_theirs.fileno()})
        if evaluates:
            os.environ.update(kernel.ENVIRONMENT)
            kernel.EVALUATES = True
        serve = importlib.import_module(module).serve
        run(lambda: serve(Channel(link_theirs)))
    link_theirs.close()
    os.close(output_theirs)
    return pid, [link.detach(), output]


def hand_over(channel: Channel, pid: int, descriptors: list[int]) -> None:
    """Give a process to whoever asked for it."""
    try:
        channel.send({"pid": pid})
        channel.hand_over(descriptors)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def adopt() -> None:
    """From here on whatever our children leave behind becomes our child."""
    import ctypes

    ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER


def sweep(keep: set[int]) -> None:
    """End all children but these, and whatever they leave behind."""
    for _ in range(ROUNDS):
        strays = children() - keep
        if not strays:
            return
        for pid in strays:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        # Not one after another: the first of a PID namespace ends when all others in it were collected.
        until = time.monotonic() + PATIENCE
        while (strays := {pid for pid in strays if not collected(pid)}) and time.monotonic() < until:
            time.sleep(0.001)


def end(pid: int) -> None:
    """End a child, unless it has ended."""
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def collected(pid: int) -> bool:
    """Whether a child has ended."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def children(parent: int | None = None) -> set[int]:
    """The pids of this process's children, or of another's, those included that it adopted."""
    parent = os.getpid() if parent is None else parent
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            after_name = stat.read_text(errors="replace").rpartition(")")[2]
            if int(after_name.split()[1]) == parent:
                found.add(int(stat.parent.name))
    return found


def become(keep: set[int]) -> None:
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


def run(body: Any) -> None:
    """Run a child's body and leave by `os._exit`, so that nothing of the parent's is torn down twice."""
    code = 70
    try:
        body()
        code = 0
    except MemoryError:
        code = NO_MEMORY  # telling more takes some
    except Exception:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
