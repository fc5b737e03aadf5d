"""The processes of a grading, found from outside: who plays which role, and who is still there."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from grader.engine.forking import children
from grader.engine.sibling import NAME

ROLES = ("runner", "judge", "parent", "builder", "parent of builders", "command line")
SETTLE = 30.0  # seconds in which whatever was orphaned is gone: one that imports torch notices late


def of_role(role: str, parent: int) -> list[int]:
    """Who plays a role under a warm parent, the eldest first.

    Args:
        role: one of ROLES but the command line.
        parent: the warm parent's pid.
    """
    if role == "parent":
        return [parent]
    forked = sorted(children(parent), key=_born)
    compiling = [pid for pid in forked if told(pid, "comm").strip() == NAME]
    if role == "parent of builders":
        return compiling
    if role == "builder":
        return [builder for pid in compiling for builder in sorted(children(pid), key=_born)]
    others = [pid for pid in forked if pid not in compiling]  # a judge is forked first, then what it asks for
    return others[:1] if role == "judge" else others[1:]


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
