"""Kernels of the tests, evaluated as a grading without a GPU evaluates them."""

from __future__ import annotations

import inspect
from typing import Any

import torch

from grader.kernel import launch
from grader.kernel.access_analysis import Recorder
from grader.kernel.bounds import Bounds
from grader.kernel.tensor_regions import regions_of


def evaluate(kernel: Any, grid: tuple[int, ...], *args: Any, **options: Any) -> Bounds:
    """Run a launch on the CPU; what was seen of its memory."""
    path = kernel.fn.__code__.co_filename
    known = inspect.signature(kernel.fn).parameters
    bounds = Bounds(path)
    bounds.launch(regions_of({**dict(zip(known, args, strict=False)), **_given(options, known)}, {}))
    launch.prepared(kernel, args, options, path).run((*grid, 1, 1)[:3], Recorder(bounds))
    return bounds


def _given(options: dict[str, Any], known: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name in known}


def line(kernel: Any, text: str) -> int:
    """Where in its file the kernel has the line that holds a text."""
    lines, first = inspect.getsourcelines(kernel.fn)
    return first + next(number for number, one in enumerate(lines) if text in one)


def same(got: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Bit for bit, NaN included."""
    return got.dtype == wanted.dtype and torch.equal(got.nan_to_num(1e4), wanted.nan_to_num(1e4))
