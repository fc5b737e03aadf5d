"""The learner's file as a module, made of the bytes that were hashed, whatever lies on the disk by now."""

from __future__ import annotations

import importlib.util
import io
import itertools
import linecache
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from grader.runner.non_tensor_arguments import TakingTensors

_HANDED = itertools.count(1)


def load(
    path: str,
    source: bytes,
    provided: str,
    mine: Mapping[str, list[str]] | None = None,
    made: Mapping[str, Sequence[Any]] | None = None,
) -> ModuleType:
    """The file's module, called `kernel`; what lies beside it can be imported, and what the day provides.

    Args:
        mine: the functions that it can import from `mine`: by name the path and the source of the file that
            holds it, and the folder of that file's own helpers.
        made: of functions that take other things than tensors what is made of those.

    Python's own import would take a stale .pyc for a file that was saved twice within a second at equal size.

    Raises:
        whatever the file raises.
    """
    os.chdir(Path(path).parent)
    sys.path.insert(0, os.getcwd())
    sys.path.append(provided)
    sys.dont_write_bytecode = True  # beside the learner's files, and stale where two saves are a second apart
    if mine:
        _earlier(mine)
    found = module("kernel", path, source)
    for entry, how in (made or {}).items():
        if hasattr(found, entry):
            setattr(found, entry, TakingTensors(getattr(found, entry), how))
    return found


def asked(header: dict[str, Any]) -> tuple[Any, Any, Any]:
    """What such a command says beside the file itself, in `load`'s order."""
    return header["provided"], header["mine"], header["made"]


def _earlier(mine: Mapping[str, list[str]]) -> None:
    """The module `mine`; each file becomes a module of its own below it."""
    whole = sys.modules["mine"] = ModuleType("mine")
    for name, (path, source, helpers) in mine.items():
        sys.path.append(helpers)
        setattr(whole, name, getattr(module(f"mine.{name}", path, source.encode()), name))


def handed(source: str, entry: str) -> Any:
    """A function that the judge hands over, from a module of its own that lies nowhere."""
    name = f"candidate_{next(_HANDED)}"
    return getattr(module(name, f"{name}.py", source.encode()), entry)


def module(name: str, path: str, source: bytes) -> ModuleType:
    """A module of that name, made of this source, as if it lay at that path."""
    # Triton and tracebacks read the source here. Without a time it is never held against the disk.
    text = io.TextIOWrapper(io.BytesIO(source), "utf-8-sig").read()  # whatever encoding it names
    linecache.cache[path] = (len(source), None, text.splitlines(keepends=True), path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    made = sys.modules[name] = importlib.util.module_from_spec(spec)
    exec(compile(text, path, "exec", dont_inherit=True), vars(made))
    return made
