"""Sees every kernel launch of a call, in the interpreter and on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from grader.interpreter import proxy
from grader.interpreter.bounds import Bounds
from grader.interpreter.regions import Region
from grader.runner.world import World


@dataclass(frozen=True)
class Launch:
    """One launch: the kernel's name and its grid."""

    kernel: str
    grid: tuple[int, ...]


@contextmanager
def observed(world: World, limits: Bounds | None) -> Iterator[list[Launch]]:
    """Report launches to `world` while the block runs, and hold their addresses against `limits` in the
    interpreter.

    Yields:
        the launches, growing as they happen.
    """
    seen: list[Launch] = []
    undo = [_wrap(Autotuner, "run", lambda stock, self, *a, **k: _enclosed(world, stock, self, a, k))]
    if limits is not None:
        undo.append(_interpreted(world, limits, seen))
    else:
        undo.append(_compiled(world, seen))
    try:
        yield seen
    finally:
        for restore in undo:
            restore()


def _interpreted(world: World, limits: Bounds, seen: list[Launch]) -> Callable[[], None]:
    from triton.runtime import interpreter

    def call(stock: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        world.before_launch([*args, *kwargs.values()])
        limits.launch(
            [
                Region(t.name, base, base + t.start, base + t.stop, base + t.storage.nbytes(), t.allocated)
                for base, t in world.tracked.items()
            ]
        )
        try:
            with proxy.watching(limits):
                return stock(self, *args, **kwargs)
        finally:
            grid = getattr(interpreter.interpreter_builder, "grid_dim", ())
            seen.append(Launch(self.fn.__name__, tuple(int(n) for n in grid)))
            world.after_launch()

    return _wrap(interpreter.GridExecutor, "__call__", call)


def _compiled(world: World, seen: list[Launch]) -> Callable[[], None]:
    def run(stock: Any, self: Any, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        if warmup:
            return stock(self, *args, grid=grid, warmup=warmup, **kwargs)
        resolved: list[Any] = [grid]

        def remember(meta: Any) -> Any:
            resolved[0] = grid(meta)
            return resolved[0]

        world.before_launch([*args, *kwargs.values()])
        try:
            return stock(self, *args, grid=remember if callable(grid) else grid, warmup=warmup, **kwargs)
        finally:
            seen.append(Launch(self.__name__, () if callable(resolved[0]) else tuple(resolved[0])))
            world.after_launch()

    return _wrap(JITFunction, "run", run)


def _enclosed(world: World, stock: Any, self: Any, args: Any, kwargs: Any) -> Any:
    """An autotuner's own torch work (it times configs) is no work of the learner's."""
    world.launching += 1
    try:
        return stock(self, *args, **kwargs)
    finally:
        world.launching -= 1


def _wrap(owner: Any, name: str, wrapper: Any) -> Callable[[], None]:
    stock = getattr(owner, name)

    def replacement(*args: Any, **kwargs: Any) -> Any:
        return wrapper(stock, *args, **kwargs)

    setattr(owner, name, replacement)
    return lambda: setattr(owner, name, stock)
