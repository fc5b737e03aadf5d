"""Launches of kernels without a GPU: each is handed to whoever carries it out."""

from __future__ import annotations

import contextlib
import functools
import inspect
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from triton.runtime.jit import JITFunction

from grader.kernel import execution_position, launch
from grader.kernel.access_analysis import Recorder
from grader.kernel.bounds import Bounds
from grader.kernel.evaluator import Machine
from grader.kernel.tensor_regions import regions_of

LIMITS = (2**31 - 1, 65535, 65535)  # programs of each axis, in CUDA

Place = tuple[int, ...]  # in a grid; and how far the grid goes
Take = Callable[["Launching"], None]


class Follower(Protocol):
    """Has another machine run, or the same one otherwise."""

    def following(self, plain: Machine) -> Machine:
        """The machine that runs instead."""


class GridTooLarge(RuntimeError):
    """CUDA would refuse this launch."""


class NeedsGpu(RuntimeError):
    """No evaluator carries out this launch."""


class Launching:
    """A launch that is about to be carried out.

    Attributes:
        function: as the decorator made it.
        kernel: the function under @triton.jit.
        args, options: as the launcher gave them; num_warps and the like are among the options.
    """

    def __init__(
        self, function: JITFunction[Any], grid: Any, args: tuple[Any, ...], options: dict[str, Any]
    ) -> None:
        self.function, self.args, self.options = function, args, options
        self.kernel: Any = function.fn
        self._grid, self._hooks = grid, function.pre_run_hooks
        self._ready: launch.Ready | None = None

    def named(self) -> dict[str, Any]:
        """The kernel's arguments by its names for them.

        Raises:
            TypeError: they do not fit.
        """
        known = inspect.signature(self.kernel).parameters
        options = {name: value for name, value in self.options.items() if name in known}
        return inspect.getcallargs(self.kernel, *self.args, **options)

    def asking(self, through: Callable[[Any], Any]) -> None:
        """A grid that is a function of the launcher's is called by way of `through`."""
        self._grid = through(self._grid) if callable(self._grid) else self._grid

    def prepare(self, path: str, whole: bool = False) -> launch.Ready:
        """Compile it: Python that runs meanwhile is none of the kernel's, and what it does shows.

        Args:
            whole: as `frontend.compiled` has it.
        """
        if self.function.is_gluon():
            raise NeedsGpu(f"{self.kernel.__name__} is in Gluon, and runs on a GPU alone")
        if self._ready is None:
            self._ready = launch.prepared(self.function, self.args, self.options, path, whole)
        return self._ready

    def follow(self, values: Follower) -> None:
        """Have the steps noted by which values came to be none; after `prepare`."""
        assert self._ready
        self._ready = self._ready._replace(machine=values.following(self._ready.machine))

    def run(self, bounds: Bounds) -> None:
        """Run all programs; `bounds` are told of every access.

        Raises:
            GridTooLarge: CUDA would refuse the launch.
        """
        ready = self.prepare(bounds.path)
        ready.run(self.grid(), Recorder(bounds))

    def again(self, grid: Place, bounds: Bounds) -> None:
        """Carry it out once more; no function of the launcher's is called."""
        self._grid, self._hooks = grid, []
        self.run(bounds)

    def grid(self) -> tuple[int, int, int]:
        """Call the launcher's hooks, and ask for the grid, along three axes.

        Raises:
            GridTooLarge: CUDA would refuse the launch.
        """
        for hook in self._hooks:
            hook(*self.args, **self.options)
        grid: Sequence[Any] = self._grid(self.named()) if callable(self._grid) else self._grid
        assert len(grid) <= 3, "grid must have at most 3 dimensions"
        x, y, z = (*map(operator.index, grid), 1, 1, 1)[:3]
        if any(size > limit for size, limit in zip((x, y, z), LIMITS, strict=True)):
            raise GridTooLarge(
                f"the grid is {x, y, z}; axes 1 and 2 end at 65535 programs, axis 0 at 2³¹ − 1"
            )
        execution_position.launched((x, y, z))
        return x, y, z


def _carry_out(launch: Launching) -> None:
    """A launch that nobody waits for, as of a file that launches when it is imported."""
    bounds = Bounds("")
    bounds.launch(regions_of(launch.named(), {}))
    launch.run(bounds)


_take: Take = _carry_out


@contextlib.contextmanager
def handed_to(take: Take) -> Iterator[None]:
    """While the block runs, every launch is handed to `take`, which carries it out or does not."""
    global _take
    before, _take = _take, take
    try:
        yield
    finally:
        _take = before


def install() -> None:
    """Have launches carried out here, of this process from now on, and not by a driver of a GPU."""
    kernels: Any = JITFunction
    stock = kernels.run

    @functools.wraps(stock)  # whose name Python tells where an argument comes twice
    def run(function: Any, *args: Any, grid: Any, warmup: bool = False, **options: Any) -> Any:
        if warmup:
            return stock(function, *args, grid=grid, warmup=True, **options)
        return _take(Launching(function, grid, args, options))

    kernels.run = run
