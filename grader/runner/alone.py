"""What else than kernels works while launches are made once more, in the interpreter: on a GPU nothing could.

A kernel that runs in Python can be helped by Python: an object that it prints, reads or adds, a hook of
NumPy's, whoever stands in for sys.stdout. Another process can write into memory that it shares. The launches
are repeated on contents that nobody knew before, so that such help has to come again: whose code runs is seen
then, and what a kernel finds in memory is held against what kernels stored.
"""

from __future__ import annotations

import cProfile
import gc
import sys
from _imp import get_frozen_object
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.machinery import SourceFileLoader
from types import CodeType, FunctionType, ModuleType
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
MADE = ("_tuple_new",)  # the one name that a named tuple's own function knows


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
        # Python's own, for a hook of ours is called at every return too, and asks each frame for its code,
        # which is an audit: three times as long as what it looks at.
        self.calls = cProfile.Profile(builtins=False)

    def __enter__(self) -> Alone:
        self.found += sorted(beside([]))
        self.calls.enable()
        return self

    def __exit__(self, *_: object) -> None:
        self.calls.disable()
        self.found += self._functions()
        self.found += [f"whoever writes into {name}" for name in self.shadow.changed]
        self.found += sorted(beside([]))

    @contextmanager
    def watched(self, bounds: Bounds) -> Iterator[Shadow]:
        """Who is asked about the accesses of a launch, which the block makes."""
        with self.shadow.over(bounds) as shadow:
            yield shadow

    def _functions(self) -> list[str]:
        """Whose code ran that is no kernel's, nor of those who interpret it."""
        callers: dict[Any, list[Any]] = {}
        for entry in self.calls.getstats():
            callers.setdefault(entry.code, [])
            for called in entry.calls or ():
                callers.setdefault(called.code, []).append(entry.code)
        unknown = [code for code in callers if GENUINE.get(id(code)) is not code]
        kernels = set(_codes(REWRITTEN.values())) if unknown else set()
        others = {code for code in unknown if code not in kernels and not _known(code, callers[code])}
        # First who was called by none of the others, as a hook is.
        told = sorted(others, key=lambda code: (not others.isdisjoint(callers[code]), _line(code)))
        return [f"{code.co_name}(), a Python function (line {_line(code)})" for code in told]


def _known(code: CodeType, callers: list[CodeType]) -> bool:
    """Whether it is a library's, or the grader's own."""
    if _installed(code.co_filename) and genuine(code):
        return True
    if code.co_name == "<module>" and callers and all(_installed(one.co_filename) for one in callers):
        return True  # what a kernel calls for the first time, being defined
    return code.co_filename.startswith("<") and _made_by_a_library(code)  # for a dataclass or a named tuple


def _line(code: CodeType) -> int:
    return code.co_firstlineno


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


def _new(kind: type) -> Any:
    return getattr(vars(kind).get("__new__"), "__func__", None)


def _made_by_a_library(code: CodeType) -> bool:
    """Whether it is what a dataclass of a library's, or a named tuple, got made for it."""
    if code.co_names == MADE:  # whose name may stand for anything, in whoever has the code
        # What the parent froze before it forked is no referrer: named tuples of libraries, and no file's.
        holders = [*gc.get_referrers(code), *map(_new, type.__subclasses__(tuple))]
        found = [one for one in holders if type(one) is FunctionType and one.__code__ is code]
        return bool(found) and all(one.__globals__.get(*MADE) is tuple.__new__ for one in found)
    names = [vars(one) for one in sys.modules.values() if issubclass(type(one), ModuleType)]
    for values in [list(held.values()) for held in names if _installed(str(held.get("__file__")))]:
        made = [vars(kind).get(code.co_name) for kind in values if issubclass(type(kind), type)]
        if any(getattr(one, "__code__", None) is code for one in made):
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
