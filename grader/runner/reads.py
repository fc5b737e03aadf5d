"""Notices when a launcher reads values on the host: on a GPU that waits for all work before it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from grader.runner.held import INSTALLED

PACKAGE = str(Path(__file__).resolve().parents[1]) + os.sep  # what watches the launcher reads values too
THEIRS = (PACKAGE, *INSTALLED)
SIGHTS = ("__dlpack__", "__array__", "untyped_storage", "data_ptr")  # ways to the values that read none
READS = ("item", "tolist", "numpy", "cpu", "__bool__", "__int__", "__float__", "__index__", "nonzero")


@contextmanager
def noticed(is_launching: Any) -> Iterator[list[str]]:
    """While the block runs, collect the names of the methods that read values, or lead there, except inside a
    launch.
    """
    seen: list[str] = []
    stock = {name: getattr(torch.Tensor, name) for name in READS + SIGHTS}

    def wrap(name: str) -> Any:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            ours = sys._getframe(1).f_code.co_filename.startswith(THEIRS if name in SIGHTS else PACKAGE)
            if not ours and not is_launching() and name not in seen:
                seen.append(name)
            return stock[name](self, *args, **kwargs)

        return method

    for name in stock:
        setattr(torch.Tensor, name, wrap(name))
    try:
        yield seen
    finally:
        for name, method in stock.items():
            setattr(torch.Tensor, name, method)
