"""What a process may open, by Landlock, which asks for no namespace; landlock(7)."""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from glob import glob
from pathlib import Path

from grader.runner.sandbox.syscalls import (
    SYS_LANDLOCK_ADD_RULE,
    SYS_LANDLOCK_CREATE_RULESET,
    SYS_LANDLOCK_RESTRICT_SELF,
    call,
)

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV  # the others are of folders
# All access that an ABI knows, by the first that knows so much.
KNOWN = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
TRUNCATES, SCOPES = 3, 6  # the ABIs that can refuse to truncate a file, and to signal a process outside
SCOPE_ABSTRACT_UNIX_SOCKET, SCOPE_SIGNAL = 1, 2
RULE_PATH_BENEATH, CREATE_RULESET_VERSION = 1, 1
# Of /dev, which as root holds whole disks.
DEVICES = ("null", "zero", "full", "random", "urandom", "nvidia*", "dri")


def restrict(hidden: Sequence[str], shown: Sequence[str], scratch: str) -> int:
    """Allow writing in `scratch` alone, and reading all but what is `hidden`; the ABI that does it.

    Args:
        hidden: folders and files, without links in their paths.
        shown: folders that may be read even where they lie in hidden ones.

    Raises:
        OSError: the kernel refuses, or knows no Landlock.
    """
    abi = call("syscall", SYS_LANDLOCK_CREATE_RULESET, None, 0, CREATE_RULESET_VERSION)
    every = KNOWN[max(first for first in KNOWN if first <= abi)]
    scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL if abi >= SCOPES else 0
    wanted = struct.pack("=3Q", every, 0, scoped)  # `struct landlock_ruleset_attr`; 0: of the network nothing
    ruleset = call("syscall", SYS_LANDLOCK_CREATE_RULESET, wanted, len(wanted), 0)
    devices = [path for name in DEVICES for path in glob(f"/dev/{name}")]
    shown = [os.path.realpath(folder) for folder in shown]
    closed = {*hidden, "/dev"}.difference(shown)
    for path in (found for tree in ("/", *shown) for found in _readable(tree, closed)):
        _allow(ruleset, path, (EXECUTE | READ_FILE | READ_DIR) & every)
    for path in devices:
        _allow(ruleset, path, (WRITE_FILE | READ_FILE | READ_DIR | IOCTL_DEV) & every)
    _allow(ruleset, scratch, every)
    call("syscall", SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    return abi


def _readable(folder: str, closed: set[str]) -> Iterator[str]:
    """The largest trees in `folder`, or all of it, and the files that hold nothing closed. A rule speaks of
    all that lies beneath, and none takes any of it back.
    """
    if folder in closed:
        return
    inside = {path for path in closed if Path(path).is_relative_to(folder)}
    if not inside:
        yield folder
        return
    for path in _entries(folder, inside):
        yield from _readable(path, inside)


def _entries(folder: str, wanted: set[str]) -> list[str]:
    """What lies in a folder; where it cannot be listed, what leads to the wanted paths. No links: what they
    lead to has its own rule, or none.
    """
    try:
        return [entry.path for entry in os.scandir(folder) if not entry.is_symlink()]
    except OSError:
        return sorted({os.path.join(folder, Path(path).relative_to(folder).parts[0]) for path in wanted})


def _allow(ruleset: int, path: str, access: int) -> None:
    with suppress(OSError):  # gone by now, or never ours to open
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        rule = struct.pack("=Qi", access if folder else access & OF_FILES, handle)
        try:
            call("syscall", SYS_LANDLOCK_ADD_RULE, ruleset, RULE_PATH_BENEATH, rule, 0)
        finally:
            os.close(handle)
