"""What the grader itself uses in other modules, held against what stood there before the learner's file came.

A file that puts something of its own there, by accident or not, would change what is observed of it.
"""

from __future__ import annotations

import builtins
import json
import os
import struct
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

OWNERS: tuple[Any, ...] = (builtins, json, json.encoder, json.JSONEncoder, os, struct, time, zlib)
OWNERS += (np, torch, torch.Tensor, triton, tl, tl.tensor, Autotuner, JITFunction, interpreter)
OWNERS += tuple(kind for kind in vars(interpreter).values() if isinstance(kind, type))
OWNERS += (interpreter.interpreter_builder,)
# Python's own, torch's and Triton's, which may lie apart.
INSTALLED = tuple(
    {str(Path(os.__file__).parent), *(str(Path(f"{one.__file__}").parents[1]) for one in (torch, triton, np))}
)
OWN = str(Path(__file__).parents[1])  # the grader's
NOTHING = object()  # that no name holds


class Held:
    """The owners' names, as they are now."""

    def __init__(self) -> None:
        self.before = [(owner, dict(vars(owner))) for owner in (*OWNERS, *_ours())]

    def mend(self) -> list[str]:
        """Put back what is another by now; the names of it."""
        found = []
        for owner, before in self.before:
            if isinstance(owner, ModuleType) and sys.modules.get(owner.__name__) is not owner:
                sys.modules[owner.__name__] = owner
                found.append(owner.__name__)
            for name, value in list(vars(owner).items()):
                if before.get(name, NOTHING) is value:  # nearly all of some thousand, at every call
                    continue
                stood = before[name] if name in before else _inherited(owner, name)
                if stood is value or not (callable(stood) or _descriptor(owner, value)) or _installed(value):
                    continue
                if stood is None or not isinstance(owner, type | ModuleType):
                    delattr(owner, name)  # its class has the right one, or there was none
                else:
                    setattr(owner, name, stood)
                found.append(f"{getattr(owner, '__name__', type(owner).__name__)}.{name}")
        return found


def _ours() -> Iterator[Any]:
    """The grader's own modules, and the classes that they define."""
    for name, module in list(sys.modules.items()):
        if name.startswith("grader."):
            yield module
            kinds = (value for value in vars(module).values() if isinstance(value, type))
            yield from (kind for kind in kinds if kind.__module__ == name)


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
