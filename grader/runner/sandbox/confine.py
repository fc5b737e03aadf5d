"""Everything that is given up, in its order, and what of it the kernel granted.

    confine {hidden, shown, scratch, on_cpu}  → Confined

A process that launches on a GPU has woken it before: cuInit opens a socket and writes to /proc.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from grader.request import CACHE
from grader.runner import resource_limits
from grader.runner.sandbox import landlock, seccomp
from grader.runner.sandbox.syscalls import PR_SET_NO_NEW_PRIVS, prctl
from grader.runner_answers import CONFINEMENTS, Confined


def confine(header: dict[str, Any], blobs: list[bytearray]) -> tuple[Confined, list[Any]]:
    """Give up what the kernel lets this process give up."""
    hidden, scratch = header["hidden"], header["scratch"]
    held = resource_limits.strict(header["on_cpu"])
    # Where Python puts files that nobody named, and Triton what it compiled.
    os.environ |= {"TMPDIR": scratch, "TRITON_CACHE_DIR": os.path.join(scratch, CACHE)}
    tempfile.tempdir = None
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    held |= {"no new privileges"}
    others = [f"/proc/{pid}" for pid in os.listdir("/proc") if pid.isdecimal() and int(pid) != os.getpid()]
    with suppress(OSError):
        abi = landlock.restrict([*hidden, *others], [*header["shown"], *installed(hidden)], scratch)
        held |= {"hidden files"}
        held |= {"read-only files"} if abi >= landlock.TRUNCATES else set()
        held |= {"hidden processes"} if abi >= landlock.SCOPES else set()
    with suppress(OSError):
        seccomp.refuse()
        held |= {"no network"}
    granted = [name for name in CONFINEMENTS if name in held]
    return Confined(granted, [name for name in CONFINEMENTS if name not in held]), []


def installed(hidden: list[str]) -> list[str]:
    """The folders that a process of ours imports from and starts programs of: the course's own package,
    though not the clone around it, and none that is to be hidden itself.
    """
    searched = ":".join(os.environ.get(name, "") for name in ("PATH", "LD_LIBRARY_PATH")).split(":")
    found = {os.path.abspath(path) for path in (*sys.path, sys.prefix, sys.base_prefix, *searched) if path}
    ours = str(Path(__file__).parents[2])
    return sorted(
        {path for path in found if os.path.isdir(path) and os.path.realpath(path) not in hidden} | {ours}
    )
