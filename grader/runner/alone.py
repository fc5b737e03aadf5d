"""What else than kernels works while launches are made once more, in the interpreter: on a GPU nothing could.

A kernel that runs in Python can be helped by Python: an object that it prints, reads or adds, a hook of
NumPy's, whoever stands in for sys.stdout. Another process can write into memory that it shares. The launches
are repeated on contents that nobody knew before, so that such help has to come again: whose code runs is seen
then, and what a kernel finds in memory is held against what kernels stored.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

import torch

from grader.interpreter.bounds import Bounds
from grader.interpreter.rewriting import REWRITTEN
from grader.interpreter.shadow import Shadow
from grader.memory import raw
from grader.runner.beside import beside
from grader.runner.held import INSTALLED, OWN

TUPLES = "namedtuple_"  # what collections calls the modules of their methods


class Alone:
    """While it is entered, notes whatever is no kernel's.

    Args:
        storages: the memory that there is for kernels, with names.

    Attributes:
        found: in words.
    """

    def __init__(self, storages: Iterable[tuple[str, torch.UntypedStorage]]) -> None:
        self.found = list[str]()
        self.shadow = Shadow((name, raw(one).numpy()) for name, one in storages)
        self.kernels = set[CodeType]()

    def __enter__(self) -> Alone:
        self.found += sorted(beside([]))
        sys.setprofile(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        self.found += [f"whoever writes into {name}" for name in self.shadow.changed]
        self.found += sorted(beside([]))

    @contextmanager
    def watched(self, bounds: Bounds) -> Iterator[Shadow]:
        """Who is asked about the accesses of a launch, which the block makes."""
        yield self.shadow.over(bounds)
        self.shadow.look()

    def _called(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and not self._is_a_kernel(frame):
            code = frame.f_code
            self.found.append(f"{code.co_name}(), a Python function (line {code.co_firstlineno})")

    def _is_a_kernel(self, frame: FrameType) -> bool:
        """Or code of those who interpret it."""
        code, caller = frame.f_code, frame.f_back
        if code in self.kernels or _installed(code.co_filename):
            return True
        if code.co_name == "<module>" and caller and _installed(caller.f_code.co_filename):
            return True  # what a kernel calls for the first time, being defined
        if code.co_filename.startswith("<"):  # made by a library: what a dataclass or a named tuple does
            made = frame.f_globals
            return _installed(str(made.get("__file__"))) or str(made.get("__name__")).startswith(TUPLES)
        self.kernels = set(_codes(REWRITTEN.values()))
        return code in self.kernels


def _installed(path: str) -> bool:
    return path.startswith((*INSTALLED, OWN, "<frozen"))


def _codes(functions: Any) -> Iterator[CodeType]:
    """Of functions, and of those that are defined in them."""
    codes = [function.__code__ for function in functions if hasattr(function, "__code__")]
    while codes:
        yield (code := codes.pop())
        codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
