"""Which elements each program touches, access by access: what a picture is drawn from."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
from triton.runtime import interpreter

from grader.meter import bounds
from grader.meter.bounds import Region
from grader.runner.world import tensors_in

PROGRAMS = 64  # of a launch, that are drawn
STEPS = 64  # accesses of one program
_builder: Any = interpreter.interpreter_builder


class Tracer:
    """Stands where Bounds stands, and writes down every access.

    Args:
        path: the learner's file.
    """

    dry = False

    def __init__(self, path: str) -> None:
        self.bounds = bounds.Bounds(path)
        self.races = self.bounds.races
        self.launches: list[dict[str, Any]] = []

    def check(self, kind: str, addresses: Any, mask: Any, size: int) -> Region | None:
        """Write one access down; called before it happens."""
        home = self.bounds.check(kind, addresses, mask, size)
        program = self._program()
        if home is None or program is None or len(program["steps"]) >= STEPS:
            return None
        mask = np.broadcast_to(mask, addresses.shape).reshape(-1)
        elements = (addresses.reshape(-1).astype(np.int64) - home.start) // size
        whole = (home.stop - home.start) // size
        left = elements[~mask]
        program["steps"].append(
            {
                "kind": kind,
                "line": self.bounds.line(),
                "tensor": home.name,
                "touched": _runs(elements[mask]),
                "masked": _runs(left[(left >= 0) & (left < whole)]),
                "outside": int(((left < 0) | (left >= whole)).sum()),
            }
        )
        return None

    def _program(self) -> Any:
        """The entry of the program that runs."""
        at = [int(i) for i in _builder.grid_idx]
        programs = self.launches[-1]["programs"]
        for program in programs[::-1]:
            if program["at"] == at:
                return program
        if len(programs) >= PROGRAMS:
            return None
        programs.append({"at": at, "steps": []})
        return programs[-1]

    def launch(self, name: str, named: dict[str, Any]) -> None:
        """A launch begins."""
        memory: dict[int, Region] = {}
        shapes = {}
        for parameter, value in named.items():
            for tensor in tensors_in([value]):
                start = tensor.data_ptr()
                span = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True)) + 1
                stop = start + (span * tensor.element_size() if tensor.numel() else 0)
                storage = tensor.untyped_storage()
                low = storage.data_ptr()
                memory.setdefault(start, Region(parameter, low, start, stop, low + storage.nbytes()))
                shapes[parameter] = {"shape": list(tensor.shape), "stride": list(tensor.stride())}
        self.bounds.launch(list(memory.values()))
        self.launches.append({"kernel": name, "grid": [], "tensors": shapes, "programs": []})


def _runs(elements: Any) -> list[list[int]]:
    """Sorted elements as runs of [first, count]."""
    elements = np.unique(elements)
    if not elements.size:
        return []
    breaks = np.flatnonzero(np.diff(elements) != 1) + 1
    return [[int(run[0]), len(run)] for run in np.split(elements, breaks)]


@contextlib.contextmanager
def traced(tracer: Tracer) -> Iterator[None]:
    """While the block runs, launches run as ever, and are written down."""
    executor: Any = interpreter.GridExecutor
    stock = executor.__call__

    def call(ge: Any, *args: Any, **options: Any) -> None:
        known = inspect.signature(ge.fn).parameters
        named = inspect.getcallargs(ge.fn, *args, **{k: v for k, v in options.items() if k in known})
        tracer.launch(ge.fn.__name__, named)
        bounds.watch(tracer)  # type: ignore[arg-type]
        try:
            stock(ge, *args, **options)
        finally:
            bounds.watch(None)
            tracer.launches[-1]["grid"] = [int(n) for n in _builder.grid_dim]

    with mock.patch.object(executor, "__call__", call):
        yield
