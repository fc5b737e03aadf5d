"""Sees every kernel launch of a call, with a GPU and without."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any
from unittest import mock

from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction
from triton.testing import do_bench

from grader.kernel import execution_position
from grader.kernel.bounds import Bounds
from grader.kernel.launch_hook import Follower, Launching, handed_to
from grader.operator_memory_effects import tensors_in
from grader.runner.tensor_provenance import World
from grader.runner_answers import Launch, Tuning

BRIEFLY = {"warmup": 1, "rep": 4}  # ms; Triton's own are 25 and 100


@contextmanager
def observed(world: World, limits: Bounds | None, values: Follower | None = None) -> Iterator[list[Launch]]:
    """Report launches to `world` while the block runs; without a GPU hold their addresses against `limits`.

    Yields:
        the launches, growing as they happen; those by which an autotuner tries its configs are none of them.
    """
    seen: list[Launch] = []
    launches = _evaluated(world, limits, values, seen) if limits else _compiled(world, seen)
    tuning = _wrapped(Autotuner, "run", partial(_tuned, world))
    pruning = _wrapped(Autotuner, "prune_configs", partial(_pruned, world))
    tried = partial(_enclosed, world) if limits else partial(_tried, world)
    with launches, tuning, pruning, _wrapped(Autotuner, "_bench", tried):
        yield seen


def _evaluated(
    world: World, limits: Bounds, values: Follower | None, seen: list[Launch]
) -> AbstractContextManager[Any]:
    def carry_out(launch: Launching) -> None:
        try:
            launch.prepare(limits.path)
        except Exception:
            if not world.tuning:
                seen.append(Launch(launch.kernel.__name__, [], {}, _line(launch.kernel)))
            raise
        launch.asking(world.outside)
        if values:
            launch.follow(values)
        handed, line = _memory(launch.kernel, launch.args, launch.options), _line(launch.kernel)
        world.before_launch([*launch.args, *launch.options.values()])
        try:
            launch.run(_limited(world, limits))
        except Exception:
            world.answered = True  # it raised because of values, for all that is known
            raise
        finally:
            grid = execution_position.grid()
            if not world.tuning:
                seen.append(Launch(launch.kernel.__name__, list(grid), handed, line))
            world.after_launch()
        world.note(lambda: launch.again(grid, _limited(world, Bounds(limits.path))))

    return handed_to(carry_out)


def _limited(world: World, limits: Bounds) -> Bounds:
    """These, about to watch a launch on the tensors that the world knows by now."""
    limits.launch(world.regions())
    return limits


def _compiled(world: World, seen: list[Launch]) -> AbstractContextManager[Any]:
    def run(stock: Any, self: Any, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        if warmup:
            return stock(self, *args, grid=grid, warmup=warmup, **kwargs)
        resolved: list[Any] = [grid]

        def remember(meta: Any) -> Any:
            resolved[0] = world.outside(grid)(meta)
            return resolved[0]

        world.before_launch([*args, *kwargs.values()])
        try:
            built = stock(self, *args, grid=remember if callable(grid) else grid, warmup=warmup, **kwargs)
        finally:
            whole = [] if callable(resolved[0]) else list(resolved[0])
            if not world.tuning:
                seen.append(Launch(self.__name__, whole, _memory(self.fn, args, kwargs), _line(self.fn)))
            world.after_launch()
        world.note(partial(_again, stock, self, *args, grid=resolved[0], warmup=False, **kwargs))
        return built

    return _wrapped(JITFunction, "run", run)


def _line(kernel: Any) -> int:
    """Where a kernel begins, with its decorators; 0 where that is not known."""
    code = getattr(inspect.unwrap(kernel), "__code__", None)
    return code.co_firstlineno if code else 0


def _memory(kernel: Any, args: Sequence[Any], options: dict[str, Any]) -> dict[str, int]:
    """The addresses of the storages that a kernel was handed, by its names for them."""
    given = {**dict(zip(inspect.signature(kernel).parameters, args, strict=False)), **options}
    return {
        name: tensor.untyped_storage().data_ptr()
        for name, value in given.items()
        for tensor in tensors_in([value])
    }


def _again(stock: Any, kernel: Any, *args: Any, **kwargs: Any) -> None:
    """A launch made once more; no function of the launcher's is called."""
    with mock.patch.object(kernel, "pre_run_hooks", []):
        stock(kernel, *args, **kwargs)


def _enclosed(world: World, stock: Any, *args: Any, **kwargs: Any) -> Any:
    """An autotuner's own torch work (it times configs) is no work of the learner's."""
    world.tuning += 1
    try:
        return stock(*args, **kwargs)
    finally:
        world.tuning -= 1


def _tried(world: World, stock: Any, tuner: Any, *args: Any, **kwargs: Any) -> Any:
    """One config on a GPU, timed briefly: which one is the quickest matters where speed is judged."""
    with mock.patch.dict(vars(tuner), {"do_bench": partial(do_bench, **BRIEFLY)}):
        return _enclosed(world, stock, tuner, *args, **kwargs)


def _tuned(world: World, stock: Any, tuner: Any, *args: Any, **kwargs: Any) -> Any:
    """Notes what an autotuner is called with."""
    given = {**dict(zip(tuner.arg_names, args, strict=False)), **kwargs}
    strangers = [name for name in tuner.keys if name not in tuner.arg_names]
    key = [str(given[name]) for name in tuner.keys if name in given and name not in strangers]
    world.tunings.append(Tuning(tuner.base_fn.__name__, len(tuner.configs), strangers, key))
    return stock(tuner, *args, **kwargs)


def _pruned(world: World, stock: Any, *args: Any, **kwargs: Any) -> Any:
    left = stock(*args, **kwargs)
    world.tunings[-1] = replace(world.tunings[-1], left=len(left))
    return left


def _wrapped(owner: Any, name: str, wrapper: Any) -> AbstractContextManager[Any]:
    stock = getattr(owner, name)
    return mock.patch.object(owner, name, lambda *args, **kwargs: wrapper(stock, *args, **kwargs))
