"""Everything that is given up, in its order, and what of it the kernel granted.

    confine {hidden, shown, scratch, on_cpu, wakes}  → Confined      wakes: it will launch kernels on a GPU

Two layers hold the files and the processes: namespaces, where the kernel lets users have them, and Landlock.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from grader.request import CACHE
from grader.runner import limits
from grader.runner.sandbox import landlock, namespaces, seccomp
from grader.runner.sandbox.syscalls import PR_SET_NO_NEW_PRIVS, prctl
from grader.runner_answers import CONFINEMENTS, Confined

Folders = tuple[list[str], list[str], str]  # hidden, shown even inside of these, and the scratch folder


def confine(header: dict[str, Any], blobs: list[bytearray]) -> tuple[Confined, list[Any]]:
    """Give up what the kernel lets this process give up, and go on in a child where that takes one."""
    folders = header["hidden"], [*header["shown"], *installed(header["hidden"])], header["scratch"]
    held = limits.strict(header["on_cpu"])
    cache = os.path.join(header["scratch"], CACHE)
    # Where Python puts files that nobody named, and Triton what it compiled.
    os.environ |= {"TMPDIR": header["scratch"], "TRITON_CACHE_DIR": cache}
    tempfile.tempdir = None
    if not header["wakes"] or namespaces.hides_processes():  # cuInit fails where /proc does not fit its pid
        held |= _by_namespaces(folders, header["wakes"])
    else:
        _wake()
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    held |= {"no new privileges"} | _by_landlock(folders, strangers="hidden processes" not in held)
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


def _wake() -> None:
    """Before /proc is read-only and no socket can be had: cuInit fails without either."""
    from grader.runner.cuda_warmup import wake

    wake()


def _by_namespaces(folders: Folders, wakes: bool) -> set[str]:
    """What namespaces put in force; on a GPU, that it is awake before."""
    try:
        namespaces.enter()
    except OSError:
        return set()
    held = {"no network"}
    with suppress(OSError):
        namespaces.hide_processes()
        held |= {"hidden processes"}
    if wakes:
        _wake()
    with suppress(OSError):
        namespaces.narrow_files(*folders)
        held |= {"read-only files", "hidden files"}
    namespaces.drop_capabilities()
    return held


def _by_landlock(folders: Folders, strangers: bool) -> set[str]:
    """What Landlock puts in force; `strangers` are the other processes that are still to be hidden."""
    hidden, shown, scratch = folders
    others = [pid for pid in os.listdir("/proc") if pid.isdecimal() and int(pid) != os.getpid()]
    try:
        abi = landlock.restrict([*hidden, *(f"/proc/{pid}" for pid in others if strangers)], shown, scratch)
    except OSError:
        return set()
    held = {"hidden files"}
    held |= {"read-only files"} if abi >= landlock.TRUNCATES else set()
    return held | ({"hidden processes"} if abi >= landlock.SCOPES else set())
