"""A view of the files, the processes and the network of one's own; user_namespaces(7)."""

from __future__ import annotations

import os
import signal
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from grader.request import CACHE
from grader.runner.sandbox.syscalls import PR_SET_PDEATHSIG, SYS_MOUNT_SETATTR, call, prctl
from grader.wire import WHERE

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER = 0x20000, 0x8000000, 0x10000000
CLONE_NEWPID, CLONE_NEWNET = 0x20000000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID = 0x1, 0x2
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
ROOM = 1 << 30  # bytes that the scratch folder may hold
CAPABILITIES = 0x20080522  # the version of capset(2) with 64 of them


def enter() -> None:
    """Go on as a child in namespaces of its own. This process waits for it, and ends as it does.

    Raises:
        OSError: the kernel refuses; nothing has changed then.
    """
    user, group = os.geteuid(), os.getegid()
    call("unshare", CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    if os.fork() == 0:
        _hold_open()
    child = os.fork()
    if child:
        _end_like(child)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()  # else a signal to its process group would reach the grader's


def hides_processes() -> bool:
    """Whether the kernel grants namespaces, and a /proc that belongs to them."""
    child = os.fork()
    if child == 0:
        try:
            enter()
            hide_processes()
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def _hold_open() -> NoReturn:
    """The first process of a namespace: with it ends every other. Signals that it sends itself do nothing, so
    that the learner's code is not to be it.
    """
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for what is orphaned
    os.closerange(0, os.sysconf("SC_OPEN_MAX"))
    while True:
        signal.pause()


def _end_like(child: int) -> NoReturn:
    # Whoever asks where this process is means the child.
    signal.signal(WHERE, lambda number, _: os.kill(child, number))
    os.closerange(0, os.sysconf("SC_OPEN_MAX"))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code < 0:
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def hide_processes() -> None:
    """Show the processes of this namespace alone.

    Raises:
        OSError: the kernel refuses, as it does where parts of /proc are covered already.
    """
    _mount("proc", "/proc", "proc", 0, "")


def narrow_files(hidden: Sequence[str], shown: Sequence[str], scratch: str) -> None:
    """Make all files read-only but those in `scratch`, of which CACHE stays, and empty what is `hidden`.

    Args:
        hidden: folders and files, without links in their paths.
        shown: folders that stay even where they lie in hidden ones.

    Raises:
        OSError: the kernel refuses.
    """
    _mount("none", "/", None, MS_REC | MS_PRIVATE, None)
    cache = os.path.join(scratch, CACHE)
    shared = os.open(cache, os.O_PATH | os.O_CLOEXEC) if os.path.isdir(cache) else None
    links = {folder: os.path.realpath(folder) for folder in shown}
    kept = {folder: os.open(folder, os.O_PATH | os.O_CLOEXEC) for folder in links.values()}
    for path in sorted({*hidden, *kept}, key=lambda path: path.count("/")):  # first what others lie in
        if path in kept:
            _show(path, kept[path])
        elif os.path.lexists(path):
            _empty(path)
    for handle in kept.values():
        os.close(handle)
    for link, folder in links.items():
        if not os.path.exists(link):  # it led through a hidden folder
            os.makedirs(os.path.dirname(link), exist_ok=True)
            os.symlink(folder, link)
    os.makedirs(scratch, exist_ok=True)
    _mount("tmpfs", scratch, "tmpfs", 0, f"size={ROOM},mode=700")
    if shared is not None:
        _show(cache, shared)
        os.close(shared)
    _set_attributes("/", AT_RECURSIVE, add=MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID)
    _set_attributes(scratch, AT_RECURSIVE, drop=MOUNT_ATTR_RDONLY)
    os.chdir(scratch)  # else "." would still be the folder behind what covers it now


def _show(folder: str, handle: int) -> None:
    """Have the folder of the handle at its path, where it is not."""
    if not os.path.exists(folder) or not os.path.samestat(os.stat(folder), os.fstat(handle)):
        os.makedirs(folder, exist_ok=True)
        _mount(f"/proc/self/fd/{handle}", folder, None, MS_BIND | MS_REC, None)


def _empty(path: str) -> None:
    if os.path.isdir(path):
        _mount("tmpfs", path, "tmpfs", 0, "size=1m,mode=755")
    else:
        _mount("/dev/null", path, None, MS_BIND, None)


def drop_capabilities() -> None:
    """Give up what the owner of a namespace may do: unmount, for one."""
    call("capset", struct.pack("=Ii", CAPABILITIES, 0), struct.pack("=6I", *[0] * 6))


def _mount(source: str, target: str, kind: str | None, flags: int, options: str | None) -> None:
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    call("mount", *texts[:3], flags, texts[3])


def _set_attributes(path: str, flags: int, *, add: int = 0, drop: int = 0) -> None:
    attributes = struct.pack("=4Q", add, drop, 0, 0)  # `struct mount_attr`
    call("syscall", SYS_MOUNT_SETATTR, AT_FDCWD, os.fsencode(path), flags, attributes, len(attributes))
