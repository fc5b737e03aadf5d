"""What a process of the learner's code may take: memory, files, processes; setrlimit(2)."""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path

HEADROOM = 8 << 30  # bytes of address space the learner's code may take on a CPU before it gets a MemoryError
LARGEST_FILE = 64 << 20  # bytes that it may write into one file
OPEN_FILES = 512  # where it is confined, and below too
PROCESSES = 256  # of this user, beside all that ran when it began


def usual(on_cpu: bool) -> None:
    """The limits of every grading. On a GPU the driver reserves more address space than there is memory."""
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, LARGEST_FILE)
    with contextlib.suppress(OSError):  # where memory ends, the kernel ends this process before any other
        Path("/proc/self/oom_score_adj").write_text("1000")
    if on_cpu:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit, most = pages * resource.getpagesize() + HEADROOM, resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def strict(on_cpu: bool) -> set[str]:
    """Those, and the ones of a process that is confined; by the names of runner_answers.CONFINEMENTS."""
    usual(on_cpu)
    running = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
    _lower(resource.RLIMIT_NOFILE, OPEN_FILES)
    _lower(resource.RLIMIT_NPROC, running + PROCESSES)
    held = {"limited files"} | ({"limited memory"} if on_cpu else set())
    return held | ({"limited processes"} if os.getuid() else set())  # root is exempt


def _lower(kind: int, limit: int) -> None:
    """Set a limit that nobody can raise again, where none as low is set already."""
    most = resource.getrlimit(kind)[1]
    least = limit if most == resource.RLIM_INFINITY else min(limit, most)
    resource.setrlimit(kind, (least, least))
