"""How much memory a process held: what ran out of it is told so, and not that it loops for ever."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

# Bytes. With torch, triton and the arguments of a case a process holds 0.2 GiB, on a GPU some GiB.
MUCH = 4 << 30  # of one that is late: half of what it may take without a GPU
KILLED = 1 << 30  # of one that the system killed


def most(pid: int) -> int:
    """The most bytes that it, or a process below it, ever held; 0 where the system does not say."""
    found = 0
    with contextlib.suppress(OSError):
        peak = re.search(r"^VmHWM:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
        found = int(peak[1]) << 10 if peak else 0
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            found = max(found, most(int(child)))
    return found


def spelled(size: int) -> str:
    """`7.9 GiB`."""
    return f"{size / (1 << 30):.1f} GiB"
