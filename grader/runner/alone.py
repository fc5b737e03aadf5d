"""What else than kernels works while launches are made once more, in the interpreter: on a GPU nothing could.

A kernel that runs in Python can be helped by Python: an object that it prints, reads or adds, a hook of
NumPy's, whoever stands in for sys.stdout. Another process can write into memory that it shares. The launches
are repeated on contents that nobody knew before, so that such help has to come again: whose code runs is seen
then, and what a kernel finds in memory is held against what kernels stored.
"""

from __future__ import annotations

import sys
from _imp import get_frozen_object
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.machinery import SourceFileLoader
from types import CodeType, FrameType
from typing import Any

import torch

from grader.interpreter.bounds import Bounds
from grader.interpreter.rewriting import REWRITTEN
from grader.interpreter.shadow import Shadow
from grader.memory import raw
from grader.runner.beside import beside
from grader.runner.held import INSTALLED, OWN

GENUINE: dict[int, CodeType] = {}  # of code what was found to be a library's
BOOTSTRAP = "importlib._bootstrap", "_frozen_importlib"  # by its file and as the interpreter has it
TUPLES = "namedtuple_"  # what collections calls the modules of their methods


class Alone:
    """While it is entered, notes whatever is no kernel's.

    Args:
        storages: the memory that there is for kernels, with names, and whether it came in or from torch.

    Attributes:
        found: in words.
    """

    def __init__(self, storages: Iterable[tuple[str, torch.UntypedStorage, bool]]) -> None:
        self.found = list[str]()
        self.shadow = Shadow((name, raw(one).numpy(), known) for name, one, known in storages)
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
        with self.shadow.over(bounds) as shadow:
            yield shadow

    def _called(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call":  # first: of some thousand times most are returns and C functions
            return
        code = frame.f_code
        # By identity first: code takes long to hash.
        if GENUINE.get(id(code)) is not code and not self._is_a_kernel(frame):
            self.found.append(f"{code.co_name}(), a Python function (line {code.co_firstlineno})")

    def _is_a_kernel(self, frame: FrameType) -> bool:
        """Or code of those who interpret it."""
        code, caller = frame.f_code, frame.f_back
        if code in self.kernels or (_installed(code.co_filename) and genuine(code)):
            return True
        if code.co_name == "<module>" and caller and _installed(caller.f_code.co_filename):
            return True  # what a kernel calls for the first time, being defined
        if code.co_filename.startswith("<"):  # made by a library: what a dataclass or a named tuple does
            return _made_by_a_library(code, frame.f_globals)
        self.kernels = set(_codes(REWRITTEN.values()))
        return code in self.kernels


def _installed(path: str) -> bool:
    return path.startswith((*INSTALLED, OWN, "<frozen"))


def genuine(code: CodeType) -> bool:
    """Whether the file that it names has this code: a name is quickly given."""
    if GENUINE.get(id(code)) is not code and _looks(code) in _written(code.co_filename):
        GENUINE[id(code)] = code
    return GENUINE.get(id(code)) is code


@cache
def _written(path: str) -> set[Any]:
    """What the functions look like that a library's file has."""
    try:
        frozen = path.removeprefix("<frozen ").removesuffix(">").replace(*BOOTSTRAP)
        whole: Any = SourceFileLoader("", path).get_code("") if frozen == path else get_frozen_object(frozen)
    except (ImportError, OSError, SyntaxError):
        return set()
    return {_looks(code) for code in _nested([whole])}


def _looks(code: CodeType) -> Any:
    return code.co_name, code.co_firstlineno, code.co_code, code.co_names, code.co_varnames


def _made_by_a_library(code: CodeType, names: dict[str, Any]) -> bool:
    """Whether it is what a dataclass of a library's, or a named tuple, got made for it."""
    name = str(names.get("__name__"))
    if name.startswith(TUPLES):
        return code.co_names == ("_tuple_new",) and bool(names["_tuple_new"] == tuple.__new__)
    module = sys.modules.get(name)
    if module is None or vars(module) is not names or not _installed(str(names.get("__file__"))):
        return False
    kinds = (kind for kind in names.values() if isinstance(kind, type))
    if any(getattr(one, "__code__", None) is code for kind in kinds for one in vars(kind).values()):
        GENUINE[id(code)] = code
        return True
    return False


def _codes(functions: Any) -> Iterator[CodeType]:
    """Of functions, and of those that are defined in them."""
    return _nested([function.__code__ for function in functions if hasattr(function, "__code__")])


def _nested(codes: list[CodeType]) -> Iterator[CodeType]:
    while codes:
        yield (code := codes.pop())
        codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
