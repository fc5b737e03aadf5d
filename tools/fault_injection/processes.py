"""The processes of a grading, found from outside: who plays which role, and who is still there."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from grader.grading.forking import children

ROLES = ("runner", "judge", "parent", "builder", "command line")
SETTLE = 30.0  # seconds in which whatever was orphaned is gone: one that imports torch notices late


def of_role(role: str, parent: int) -> list[int]:
    """Who plays a role under a warm parent, the eldest first. A builder is whoever a judge asked for later.

    Args:
        role: one of ROLES but the command line.
        parent: the warm parent's pid.
    """
    if role == "parent":
        return [parent]
    forked = sorted(children(parent), key=_born)  # a judge first, then what it asks for: first a runner
    return {"judge": forked[:1], "runner": forked[1:2], "builder": forked[2:]}[role]


def left(mark: str, expected: set[int]) -> list[int]:
    """The processes with this text in their environment that are there but not expected, once all settled."""
    until = time.monotonic() + SETTLE
    while (found := marked(mark) - expected) and time.monotonic() < until:
        time.sleep(0.05)
    return sorted(found)


def marked(mark: str) -> set[int]:
    """The processes with this text in their environment."""
    pids = (int(name) for name in os.listdir("/proc") if name.isdecimal())
    return {pid for pid in pids if mark in told(pid, "environ")}


def _born(pid: int) -> tuple[int, int]:
    """When it was started, in clock ticks since the machine was; in one tick the lower pid comes first."""
    fields = told(pid, "stat").rpartition(")")[2].split()
    return int(fields[19]) if fields else 0, pid


def told(pid: int, name: str) -> str:
    """A file of /proc on a process, empty where it is gone."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    return ""
