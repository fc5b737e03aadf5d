"""What the grader uses of other modules, held against what stood there before the learner's file came.

A file that puts something of its own there, by accident or not, would change what is observed of it.
"""

from __future__ import annotations

import builtins
import json
import os
import struct
import time
from collections.abc import Iterator
from operator import is_
from pathlib import Path
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

OWNERS: tuple[Any, ...] = (builtins, json, json.JSONEncoder, os, struct, time, np, torch, torch.Tensor)
OWNERS += (triton, tl, tl.tensor, Autotuner, JITFunction)
# Python's own, torch's and Triton's, which may lie apart.
INSTALLED = tuple(
    {str(Path(os.__file__).parent), *(str(Path(f"{one.__file__}").parents[1]) for one in (torch, triton, np))}
)


class Originals:
    """The owners' names, as they are now."""

    def __init__(self) -> None:
        self.before = [(owner, dict(vars(owner))) for owner in OWNERS]

    def mend(self) -> list[str]:
        """Put back what is another by now; the names of it."""
        found = []
        for owner, before in self.before:
            now = vars(owner)
            added = isinstance(owner, type) and len(now) > len(before)
            if not added and all(map(is_, map(now.get, before), before.values())):
                continue
            for name in list(_replaced(owner, before)):
                if name in before:
                    setattr(owner, name, before[name])
                else:
                    delattr(owner, name)  # its bases have the right one
                found.append(f"{owner.__name__}.{name}")
        return found


def _replaced(owner: Any, before: dict[str, Any]) -> Iterator[str]:
    """Functions and classes of the owner's that are others by now, and methods that hide those of its bases.

    Parts of a library that are imported late wrap others of its functions.
    """
    now = vars(owner)
    for name, stood in before.items():
        if callable(stood) and now.get(name) is not stood and not _installed(now.get(name)):
            yield name
    if isinstance(owner, type):
        yield from (name for name in now.keys() - before.keys() if hasattr(super(owner, owner), name))


def _installed(value: Any) -> bool:
    """Whether it is a function of a library."""
    code = getattr(value, "__code__", None)
    return code is not None and code.co_filename.startswith(INSTALLED)
