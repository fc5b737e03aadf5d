"""The interpreter's launch, handed to whoever counts, draws or judges it.

The private names of Triton's GridExecutor, and of the grid that it walks, are known here.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from triton.runtime import interpreter

from grader.interpreter.proxy import watching
from grader.interpreter.watcher import Watcher

_executor: Any = interpreter.GridExecutor
_builder: Any = interpreter.interpreter_builder

PROGRAM = "program"  # the function below that all of a sampled kernel runs in
LIMITS = (2**31 - 1, 65535, 65535)  # programs of each axis, in CUDA

Place = tuple[int, ...]  # in a grid; and how far the grid goes
# Called with the grid, and with what runs the program at a place.
Choose = Callable[[Place, Callable[[Place], None]], None]


class GridTooLarge(RuntimeError):
    """CUDA would refuse this launch."""


class Launching:
    """A launch that is about to be carried out.

    Attributes:
        kernel: the function under @triton.jit.
        args, options: as the launcher gave them; num_warps and the like are among the options.
    """

    def __init__(
        self, carry_out: Callable[..., None], executor: Any, args: tuple[Any, ...], options: dict[str, Any]
    ) -> None:
        self._carry_out, self._executor = carry_out, executor
        self.kernel, self.args, self.options = executor.fn, args, options

    def named(self) -> dict[str, Any]:
        """The kernel's arguments by its names for them.

        Raises:
            TypeError: they do not fit.
        """
        known = inspect.signature(self.kernel).parameters
        options = {name: value for name, value in self.options.items() if name in known}
        return inspect.getcallargs(self.kernel, *self.args, **options)

    def asking(self, through: Callable[[Any], Any]) -> contextlib.AbstractContextManager[Any]:
        """While the block runs, functions of the launcher's are called by way of `through`: a grid, hooks."""
        grid, hooks = self._executor.grid, [through(hook) for hook in self._executor.pre_run_hooks]
        grid = through(grid) if callable(grid) else grid
        return mock.patch.multiple(self._executor, grid=grid, pre_run_hooks=hooks)

    def run(self, watcher: Watcher) -> None:
        """Carry it out; `watcher` is asked about every access."""
        with watching(watcher):
            self._carry_out(self._executor, *self.args, **self.options)

    def again(self, grid: Place, watcher: Watcher) -> None:
        """Carry it out once more; no function of the launcher's is called."""
        with mock.patch.multiple(self._executor, grid=grid, pre_run_hooks=[]):
            self.run(watcher)

    def sample(self, watcher: Watcher, choose: Choose) -> None:
        """Prepare it as ever, but run those programs only that `choose` asks for, and copy no tensor.

        Where the interpreter asks for the grid they run, and it is told that there are none left.

        Raises:
            GridTooLarge: CUDA would refuse the launch.
        """
        grid = self._executor.grid

        def instead(given: dict[str, Any]) -> Place:
            whole = (*map(int, grid(given) if callable(grid) else grid), 1, 1)[:3]
            if any(size > limit for size, limit in zip(whole, LIMITS, strict=True)):
                raise GridTooLarge(
                    f"the grid is {whole}; axes 1 and 2 end at 65535 programs, axis 0 at 2³¹ − 1"
                )
            # The class's own functions: order.py, which shuffles whole grids, has replaced the builder's.
            type(_builder).set_grid_dim(_builder, *whole)

            def program(at: Place) -> None:
                type(_builder).set_grid_idx(_builder, *at)
                self.kernel(**given)

            choose(whole, program)
            return (0,)

        with mock.patch.multiple(
            self._executor,
            grid=instead,
            _init_args_hst=lambda args, options: (args, options),
            _restore_args_dev=lambda *_: None,
        ):
            self.run(watcher)


def handed_to(take: Callable[[Launching], None]) -> contextlib.AbstractContextManager[Any]:
    """While the block runs, every launch is handed to `take`, which carries it out or does not."""
    stock = _executor.__call__

    def call(executor: Any, *args: Any, **options: Any) -> None:
        launch, grid = Launching(stock, executor, args, options), executor.grid

        def asked(_: dict[str, Any]) -> Any:
            """A GPU hands the grid what the launcher gave, the interpreter what the kernel gets."""
            return grid(launch.named())

        with mock.patch.object(executor, "grid", asked if callable(grid) else grid):
            take(launch)

    return mock.patch.object(_executor, "__call__", call)


@contextlib.contextmanager
def speaking(**words: Any) -> Iterator[None]:
    """While the block runs, kernels find `words` in the place of what tl calls so."""
    stock = interpreter._patch_lang_core

    def patch(language: Any, scope: Any) -> None:
        stock(language, scope)
        for name, word in words.items():
            scope.set_attr(language, name, word)

    with mock.patch.object(interpreter, "_patch_lang_core", patch):
        yield
