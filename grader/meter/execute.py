"""Runs a few programs of a launch instead of all of them, and says what all of them would do.

The interpreter prepares a launch as ever; where it asks for the grid, the chosen programs run, and it is told
that there are none left.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from triton.runtime import interpreter

from grader.interpreter import proxy
from grader.interpreter.regions import Region
from grader.memory import span
from grader.meter import arithmetic
from grader.meter.counter import Counter, Cut, Tally
from grader.meter.counts import LaunchCounts
from grader.meter.extrapolate import launch_of
from grader.meter.sample import place, programs, weights
from grader.operators import tensors_in

_builder: Any = interpreter.interpreter_builder
FEW, MORE, MANY = 4, 10, 160  # programs; more where they are unlike each other, many where some do nothing
ALIKE, IDLE = 0.2, 0.1
# Work, as counter.py has it: of one program before it is cut, of one launch from which on three programs must
# do, and of a whole call; what comes after that is cut early.
PROGRAM, ENOUGH, CALL, LITTLE = 8000, 4000, 20000, 300


class Meter:
    """Counts the launches of one call.

    Args:
        counter: that every access goes to.
        given: addresses of the storages that the call was handed.
        recipe: how to compile this launch, from the executor, its named arguments and its options.
    """

    def __init__(
        self,
        counter: Counter,
        given: set[int],
        recipe: Callable[[Any, dict[str, Any], dict[str, Any]], dict[str, Any]],
    ) -> None:
        self.counter, self.given, self.recipe = counter, given, recipe
        self.launches: list[LaunchCounts] = []
        self.spent = 0.0
        self.few = FEW
        self.paused = False

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """While the block runs, launches are counted instead of executed."""
        executor: Any = interpreter.GridExecutor
        run, patch = executor.__call__, interpreter._patch_lang_core

        def patch_core(language: Any, scope: Any) -> None:
            patch(language, scope)
            scope.set_attr(language, "range", self.counter.loops.language_range)

        swaps: list[tuple[Any, str, Any]] = [
            (executor, "__call__", lambda ge, *args, **options: self.launch(run, ge, args, options)),
            # They would copy every tensor to and fro.
            (executor, "_init_args_hst", lambda ge, args, options: (args, options)),
            (executor, "_restore_args_dev", lambda ge, *_: None),
            (interpreter, "_patch_lang_core", patch_core),
        ]
        with contextlib.ExitStack() as stack:
            for owner, name, replacement in swaps:
                stack.enter_context(mock.patch.object(owner, name, replacement))
            stack.callback(arithmetic.count(self.counter))
            stack.enter_context(proxy.watching(self.counter))
            yield

    def launch(self, run: Any, executor: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        """One launch: some of its programs run, where the interpreter asks for the grid."""
        known = inspect.signature(executor.fn).parameters
        named = inspect.getcallargs(executor.fn, *args, **{k: v for k, v in options.items() if k in known})
        grid = executor.grid

        def instead(given: dict[str, Any]) -> tuple[int]:
            shape = grid(given) if callable(grid) else grid
            self._count(executor, given, named, options, (*map(int, shape), 1, 1)[:3])
            return (0,)  # programs left to run

        executor.grid = instead
        run(executor, *args, **options)

    def _count(self, executor: Any, given: Any, named: Any, options: Any, grid: tuple[int, ...]) -> None:
        programs = grid[0] * grid[1] * grid[2]
        if not programs:
            return
        memory = regions(named, self.given)
        self.counter.launch(memory)
        chosen, tallies = self._run(executor.fn, given, grid)
        if not self.paused:
            launch = launch_of(executor.fn, grid, memory, tallies, weights(chosen, programs))
            launch.recipe = self.recipe(executor, named, options)
            self.launches.append(launch)

    def _run(self, fn: Any, given: dict[str, Any], grid: tuple[int, ...]) -> tuple[list[int], list[Tally]]:
        """The programs that were run, and what each did."""
        count = grid[0] * grid[1] * grid[2]
        type(_builder).set_grid_dim(_builder, *grid)
        done: dict[int, Tally] = {}
        seen = 0.0
        for wanted in (self.few, MORE, MANY):
            chosen = programs(count, min(wanted, count))
            for program in chosen:
                if program not in done and (len(done) < FEW - 1 or seen < ENOUGH):
                    done[program] = self._program(fn, given, place(program, grid))
                    seen += self.counter.work
            if self.few < FEW or seen > ENOUGH or _enough(list(done.values()), wanted):
                break
        order = sorted(done)
        return order, [done[program] for program in order]

    def _program(self, fn: Any, given: dict[str, Any], at: tuple[int, int, int]) -> Tally:
        self.counter.begin(max(min(PROGRAM, CALL - self.spent), LITTLE))
        type(_builder).set_grid_idx(_builder, *at)
        self.counter.loops.running = True
        try:
            fn(**given)
        except Cut:
            self.counter.tally.cut = True
        except Exception as error:
            self._strayed(error)
        finally:
            self.counter.loops.running = False
        self.spent += self.counter.work
        self.counter.tally.shortened = self.counter.loops.shortened
        return self.counter.tally

    def _strayed(self, error: BaseException) -> None:
        """A pointer that a shortened loop left behind may stray; anything else is the kernel's own."""
        self.counter.tally.cut = True
        if not self.counter.loops.shortened:
            raise error


def _enough(tallies: list[Tally], wanted: int) -> bool:
    """Whether these stand for all: a few that ask for about as many bytes, or more of which none is idle."""
    asked = [tally.asked for tally in tallies[:-1]] or [0.0]
    if wanted < MORE:
        return max(asked) <= (1 + ALIKE) * min(asked)
    return min(asked) > IDLE * max(asked)


def regions(named: dict[str, Any], given: set[int]) -> list[Region]:
    """The memory of every tensor among a launch's arguments, by the parameter's name.

    Args:
        given: addresses of the storages that the call was handed.
    """
    found: dict[int, Region] = {}
    for name, value in named.items():
        for tensor in tensors_in([value]):
            storage = tensor.untyped_storage()
            low, start = storage.data_ptr(), tensor.data_ptr()
            stop, high = start + span(tensor), low + storage.nbytes()
            region = Region(name, low, start, stop, high, low not in given)
            found.setdefault(start, region)
    return list(found.values())
