"""What the grader itself uses in other modules, held against what stood there before the learner's file came.

A file that puts something of its own there, by accident or not, would change what is observed of it. So would
other code in a function that stays where it is, or another limit among the grader's own.
"""

from __future__ import annotations

import builtins
import json
import os
import struct
import sys
import threading
import time
import warnings
import zlib
from collections.abc import Iterator, Mapping
from operator import is_
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
import torch
import torch.library
import torch.overrides
import torch.utils._python_dispatch
import triton
import triton.language as tl
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from grader.torch_operators import EMPTY, FILLED, VIEWS, WHOLE_FILLS

OWNERS: tuple[Any, ...] = (builtins, json, json.encoder, json.JSONEncoder, os, struct, time, zlib)
OWNERS += (np, torch, torch.Tensor, triton, tl, tl.tensor, Autotuner, JITFunction)
# Python's own, torch's and Triton's, which may lie apart.
INSTALLED = tuple(
    {str(Path(os.__file__).parent), *(str(Path(f"{one.__file__}").parents[1]) for one in (torch, triton, np))}
)
OWN = str(Path(__file__).parents[1])  # the grader's
THIS = sys.modules[__name__]
NOTHING = object()  # that no name holds
APART = ("cli", "grading", "judge", "diagnosis")  # rooms that do nothing in the process of a file
LIMITS = (bool, int, float, str, tuple, frozenset)  # what a limit is, or a list of names
# What Python itself has files replace.
OFFERED: tuple[Any, ...] = (sys.excepthook, sys.displayhook, sys.unraisablehook, sys.breakpointhook)
OFFERED += (threading.excepthook, warnings.showwarning, warnings.formatwarning)
OPERATORS = EMPTY | FILLED | VIEWS | WHOLE_FILLS | {"clone", "copy_", "set_"}  # the grader goes by these
_functions: Any = torch.overrides
_operators: Any = torch.utils._python_dispatch
# Private names of torch's: how many modes there are, one taken away, one put back.
MODES = (
    (
        "functions",
        _functions._len_torch_function_stack,
        _functions._pop_torch_function_stack,
        _functions._push_on_torch_function_stack,
    ),
    ("operators", _operators._len_torch_dispatch_stack, _operators._pop_mode, _operators._push_mode),
)
IMPLEMENTED: set[str] = getattr(torch.library, "_impls", set())  # "aten/copy_/CPU": a private name


class Unseen(PermissionError):
    """The file asks for what would run its code where nobody can see it."""


def no_audit_hooks(*_: Any) -> None:
    """In the place of sys.addaudithook: no profiler sees such a hook, and nothing takes it away again.

    Raises:
        Unseen: always.
    """
    raise Unseen("an audit hook runs beside kernels too, where nobody sees it: leave it out")


class Originals:
    """The owners' names, as they are now; its `noting` is to be made a hook of Python's audits."""

    def __init__(self) -> None:
        owners = {id(owner): owner for owner in (*OWNERS, *_ours())}.values()
        self.before = [(owner, dict(vars(owner))) for owner in owners]
        self.seen = [([*before], [*before.values()]) for _, before in self.before]  # as they were let be last
        self.codes = dict(reversed([*_codes(self.before)]))  # by the first name that each has
        self.swapped: list[Any] = []  # functions that were given other code since the last look
        self.implemented = set(IMPLEMENTED)

    def noting(self, event: str, args: tuple[Any, ...]) -> None:
        """Note what is given other code: to ask three thousand functions for theirs at every call is an audit
        each, 1.3 ms beside an H200.
        """
        if event == "object.__setattr__" and args[1] == "__code__":
            self.swapped.append(args[0])

    def mend(self) -> list[str]:
        """Put back what is another by now; the names of it."""
        found = []
        for at, (owner, before) in enumerate(self.before):
            is_module = isinstance(owner, ModuleType)
            if is_module and sys.modules.get(owner.__name__) is not owner:
                sys.modules[owner.__name__] = owner
                found.append(owner.__name__)
            # Nearly all of some thousand names, at every call; what is used here is looked at one by one.
            if not self.swapped and owner is not THIS and _same(vars(owner), *self.seen[at]):
                continue
            for name, value in list(vars(owner).items()):
                if before.get(name, NOTHING) is value:
                    continue
                stood = before[name] if name in before else _inherited(owner, name)
                if stood is value or not _is_held(owner, name, stood, value) or _installed(value):
                    continue
                if stood is None or not isinstance(owner, type | ModuleType):
                    delattr(owner, name)  # its class has the right one, or there was none
                else:
                    setattr(owner, name, stood)
                found.append(f"{_name(owner)}.{name}")
            if is_module:  # parts of torch that are imported late are new names in others, and no more
                self.seen[at] = [*vars(owner)], [*vars(owner).values()]
        for function in (Originals.noting, *self.swapped):
            code, name = self.codes.get(function, (function.__code__, ""))
            if function.__code__ is not code:
                function.__code__ = code
                found.append(name)
        self.swapped.clear()
        return [*found, *self._operators()]

    def _operators(self) -> list[str]:
        """What the file has torch's operators do: modes are left, implementations stay as they are."""
        found = []
        for what, count, pop, push in MODES:
            modes = [pop() for _ in range(count())]
            theirs = [mode for mode in modes if type(mode).__module__.startswith("torch.")]
            for mode in reversed(theirs):  # torch.set_default_device() enters one
                push(mode)
            found += [f"torch's {what} by {_name(mode)}" for mode in modes if mode not in theirs]
        if len(IMPLEMENTED) > len(self.implemented):
            keys = (key.split("/") for key in sorted(IMPLEMENTED - self.implemented))
            names = [name for space, name, key in keys if space == "aten" and key != "Meta"]
            found += [f"aten::{name}" for name in names if name.split(".")[0] in OPERATORS]
        return found


def _same(now: Mapping[str, Any], names: list[str], values: list[Any]) -> bool:
    """Whether it holds these under these names, in this order."""
    return [*now] == names and all(map(is_, now.values(), values))


def _name(owner: Any) -> str:
    return str(getattr(owner, "__name__", type(owner).__name__))


def _codes(owners: list[tuple[Any, dict[str, Any]]]) -> Iterator[tuple[FunctionType, tuple[CodeType, str]]]:
    """The functions among what owners hold, what runs in them, and their names."""
    for owner, held in owners:
        for name, value in held.items():
            if isinstance(value, FunctionType):
                yield value, (value.__code__, f"{_name(owner)}.{name}")


def _ours() -> Iterator[Any]:
    """The grader's own modules, the classes that they define, and what they use of Python's own modules."""
    for name, module in list(sys.modules.items()):
        if name.startswith("grader.") and name.split(".")[1] not in APART:
            yield module
            for value in vars(module).values():
                pythons = isinstance(value, ModuleType) and value.__name__ in sys.stdlib_module_names
                if pythons or (isinstance(value, type) and value.__module__ == name):
                    yield value


def _is_held(owner: Any, name: str, stood: Any, value: Any) -> bool:
    """Whether a name of this owner's is to stay what it stood for."""
    if any(stood is one for one in OFFERED):
        return False
    ours = getattr(owner, "__module__", getattr(owner, "__name__", "")).startswith("grader.")
    added = ours and isinstance(owner, type) and stood is None and not name.startswith("__")
    return callable(stood) or added or (ours and isinstance(stood, LIMITS)) or _descriptor(owner, value)


def _installed(value: Any) -> bool:
    """Whether it is a function of a library: parts of torch that are imported late wrap others."""
    code = getattr(value, "__code__", None)
    return code is not None and code.co_filename.startswith(INSTALLED)


def _descriptor(owner: Any, value: Any) -> bool:
    """Whether a class of Triton's that holds this asks it for what its objects hold by that name."""
    tritons = isinstance(owner, type) and owner.__module__.startswith("triton.")
    return tritons and hasattr(type(value), "__set__")


def _inherited(owner: Any, name: str) -> Any:
    """What a class, or an object, had by this name before it got one of its own."""
    if isinstance(owner, ModuleType):
        return None
    bases = owner.__mro__[1:] if isinstance(owner, type) else type(owner).__mro__
    return next((vars(base)[name] for base in bases if name in vars(base)), None)
