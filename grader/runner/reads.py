"""Notices when a launcher reads values on the host: on a GPU that waits for all work before it."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch
import torch.utils.dlpack
from torch.overrides import TorchFunctionMode

from grader.runner.held import INSTALLED

PACKAGE = str(Path(__file__).resolve().parents[1]) + os.sep  # what watches the launcher reads values too
THEIRS = (PACKAGE, *INSTALLED)
SIGHTS = (
    "__dlpack__",
    "__array__",
    "untyped_storage",
    "storage",
    "_typed_storage",
    "data_ptr",
)  # they read none
READS = ("item", "tolist", "numpy", "cpu", "__bool__", "__int__", "__float__", "__index__", "nonzero")
PACKED = ("__reduce_ex__",)  # torch.save and pickle read all, whoever calls this
Notice = Callable[[str, FrameType], None]
_noticing: list[Notice] = []  # who is told, the last of them


@contextmanager
def telling() -> Iterator[None]:
    """While the block runs, the methods of tensors that read values, or lead there, tell of it.

    What the learner's file keeps of them then tells later, too. They stay no longer: a launch asks each
    tensor for its address, and what is timed would pay for the answer.
    """
    modules: tuple[Any, ...] = torch._C, torch, torch.utils.dlpack
    ways: list[tuple[Any, str, str]] = [(torch.Tensor, name, name) for name in READS + SIGHTS + PACKED]
    ways += [(m, name, "__dlpack__") for m in modules for name in vars(m) if "to_dlpack" in name]
    stock = [vars(owner).get(name) for owner, name, _ in ways]
    ours = [_telling(said, getattr(owner, name)) for owner, name, said in ways]
    for (owner, name, _), told in zip(ways, ours, strict=True):
        setattr(owner, name, told)
    try:
        yield
    finally:
        for (owner, name, _), own, told in zip(ways, stock, ours, strict=True):
            if vars(owner).get(name) is not told:
                continue  # the file has put another there: held.py names it
            if own is None:
                delattr(owner, name)  # its class has it
            else:
                setattr(owner, name, own)


@contextmanager
def noticed(is_launching: Any) -> Iterator[list[str]]:
    """While the block runs, collect the names of the methods that read values, or lead there, except inside a
    launch.
    """
    seen: list[str] = []

    def notice(name: str, caller: FrameType) -> None:
        ours = caller.f_code.co_filename.startswith(THEIRS if name in SIGHTS else PACKAGE)
        if not ours and not is_launching() and name not in seen:
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
        if _noticing and name in READS + SIGHTS:
            _noticing[-1](name, sys._getframe(1))
        return func(*args, **(kwargs or {}))


def _telling(name: str, stock: Any) -> Any:
    @functools.wraps(stock)
    def method(*args: Any, **kwargs: Any) -> Any:
        if _noticing:
            _noticing[-1](name, sys._getframe(1))
        return stock(*args, **kwargs)

    return method
