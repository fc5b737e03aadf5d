"""Children of a warm parent: forked, given what they need, and handed to whoever asked."""

from __future__ import annotations

import importlib
import os
import signal
import socket
import sys
from typing import Any

from grader.wire import Channel


def fork_runner(module: str) -> tuple[int, list[int]]:
    """A child that runs `serve` of `module`: its pid, the socket to it, and the pipe of what it prints."""
    link, link_theirs = socket.socketpair()
    output, output_theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(output_theirs, 1)
        os.dup2(output_theirs, 2)
        become({link_theirs.fileno()})
        serve = importlib.import_module(module).serve
        run(lambda: serve(Channel(link_theirs)))
    link_theirs.close()
    os.close(output_theirs)
    return pid, [link.detach(), output]


def hand_over(channel: Channel, pid: int, descriptors: list[int]) -> None:
    """Give a process to whoever asked for it."""
    channel.send({"pid": pid})
    socket.send_fds(channel.sock, [b"r"], descriptors)
    for descriptor in descriptors:
        os.close(descriptor)


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
    except Exception:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
