"""How long an answer is waited for: the time that a process stands in line for a core is not its own.

On a machine with more to do than cores a right kernel would be late, and told that it runs for ever.
"""

from __future__ import annotations

import contextlib
import re
import select
import socket
import time
from pathlib import Path

MOST = 40.0  # seconds on top: within suite.BUSY, and within what the command line waits in silence


def answers(sock: socket.socket, pid: int, seconds: float) -> bool:
    """Whether a process begins to answer before it had so many seconds for it."""
    end, before, waited = time.monotonic() + seconds, in_line(pid), 0.0
    while (left := end + waited - time.monotonic()) > 0:
        if select.select([sock], [], [], left)[0]:
            return True
        waited = min(in_line(pid) - before, MOST)
    return False


def in_line(pid: int) -> float:
    """Seconds that a process has waited for a core so far; 0 where the system does not say."""
    try:
        _, waited, _ = Path(f"/proc/{pid}/schedstat").read_text().split()
    except (OSError, ValueError):
        return 0.0
    return int(waited) / 1e9


def held(pid: int) -> int:
    """The most bytes that a process, or one below it, ever held; 0 where the system does not say."""
    found = 0
    with contextlib.suppress(OSError):
        peak = re.search(r"^VmHWM:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        found = max([int(peak[1]) << 10 if peak else 0, *map(held, map(int, below))])
    return found
