"""Notices when a launcher reads values on the host: on a GPU that waits for all work before it."""

from __future__ import annotations

import _thread
import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch
import torch.utils.dlpack
from torch.overrides import TorchFunctionMode
from torch.utils import _python_dispatch

from grader.runner.monkeypatches import INSTALLED

PACKAGE = str(Path(__file__).resolve().parents[1]) + os.sep  # what watches the launcher reads values too
THEIRS = (PACKAGE, *INSTALLED)
SIGHTS = (
    "__dlpack__",
    "__array__",
    "untyped_storage",
    "storage",
    "_typed_storage",
    "data_ptr",
    "const_data_ptr",
)  # they read none
ADDRESSES = ("_data_address", "_storage_address")  # functions of torch._C, which lead there as well
# What keeps torch from telling of the class below torch.Tensor, and of operators.
OFF = ("DisableTorchFunction", "DisableTorchFunctionSubclass", "_disable_current_modes")
# Python's own audits, by the beginnings of their names: other processes, files (/proc/self/mem is one), and
# all the objects that there are.
AUDITS = ("os.fork", "os.posix_spawn", "open", "mmap.", "socket.", "ctypes.", "gc.")
THREADS = (
    "start_new",
    "start_new_thread",
    "start_joinable_thread",
)  # whom no mode follows, and no version audits
READS = ("item", "tolist", "numpy", "cpu", "__bool__", "__int__", "__float__", "__index__", "nonzero")
BELOW = frozenset(READS + SIGHTS)
PACKED = ("__reduce_ex__",)  # torch.save and pickle read all, whoever calls this
Notice = Callable[[str, FrameType], None]
_noticing: list[Notice] = []  # who is told, the last of them


@contextmanager
def telling() -> Iterator[None]:
    """While the block runs, the methods of tensors that read values, or lead there, tell of it.

    What the learner's file keeps of them then tells later, too. They stay no longer: a launch asks each
    tensor for its address, and what is timed would pay for the answer.
    """
    ways, ours = _ways()
    stock = [vars(owner).get(name) for owner, name in ways]
    for (owner, name), told in zip(ways, ours, strict=True):
        setattr(owner, name, told)
    try:
        yield
    finally:
        for (owner, name), own, told in zip(ways, stock, ours, strict=True):
            if vars(owner).get(name) is not told:
                continue  # the file has put another there: monkeypatches.py names it
            if own is None:
                delattr(owner, name)  # its class has it
            else:
                setattr(owner, name, own)


@functools.cache
def _ways() -> tuple[list[tuple[Any, str]], list[Any]]:
    """The methods and functions that read values, or lead there: whose they are by which name, and what tells
    of each; made once, before the learner's file is there.
    """
    modules: tuple[Any, ...] = torch._C, torch, torch.utils.dlpack
    methods = [name for name in READS + SIGHTS + PACKED if hasattr(torch.Tensor, name)]
    ways: list[tuple[Any, str, str]] = [(torch.Tensor, name, name) for name in methods]
    ways += [(m, name, "__dlpack__") for m in modules for name in vars(m) if "to_dlpack" in name]
    ways += [(m, name, "data_ptr") for m in modules for name in vars(m) if name in ADDRESSES]
    ways += [(m, name, name) for m in (torch._C, _python_dispatch) for name in vars(m) if name in OFF]
    ways += [
        (m, name, "a thread") for m in (_thread, threading) for name in vars(m) if name.strip("_") in THREADS
    ]
    ours = [_telling(said, getattr(owner, name)) for owner, name, said in ways]
    return [(owner, name) for owner, name, _ in ways], ours


@contextmanager
def noticed(is_launching: Any) -> Iterator[list[str]]:
    """While the block runs, collect the names of the methods that read values, or lead there, and of Python's
    audits that may, except inside a launch.
    """
    seen: list[str] = []

    def notice(name: str, caller: FrameType) -> None:
        if name in seen or is_launching():  # first: to ask a frame for its code is one of Python's audits
            return
        if not caller.f_code.co_filename.startswith(THEIRS if name in SIGHTS + OFF else PACKAGE):
            seen.append(name)

    _noticing.append(notice)
    try:
        with telling(), _Below():
            yield seen
    finally:
        _noticing.pop()


class _Below(TorchFunctionMode):
    """Tells of the methods of the class below torch.Tensor, which can be called by themselves."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        if _noticing and name in BELOW:
            _noticing[-1](name, sys._getframe(1))
        return func(*args, **(kwargs or {}))


def heard(event: str, _: tuple[Any, ...]) -> None:
    """A hook of Python's audits, which stays for as long as the process lives."""
    if _noticing and event.startswith(AUDITS):
        _noticing[-1](event, sys._getframe(1))


def _telling(name: str, stock: Any) -> Any:
    @functools.wraps(stock)
    def method(*args: Any, **kwargs: Any) -> Any:
        if _noticing:
            _noticing[-1](name, sys._getframe(1))
        return stock(*args, **kwargs)

    return method
