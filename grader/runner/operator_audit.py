"""What does the work of a call of full size, where a kernel is to: the call that is timed runs in no world.

A dispatch mode sees every operator, and code can see that there is one. So torch's own records of a call that
nobody watches are held against those of one that is watched: an operator that only the first has is told,
too. Both are made before anything is timed, and one more before every round: what is right while it is warmed
up may be given up later.

Two things run on a GPU without an operator or a launch of Triton's: a CUDA graph, which holds what was
captured long ago, and CUDA C that torch compiles. Both are told where a call runs them.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any
from unittest import mock

import torch
import torch.cuda._utils
from triton.runtime.jit import JITFunction

from grader.runner_measurements import Work
from grader.torch_operators import EMPTY, FILLED, VIEWS, WHOLE_FILLS, Watch, body, tensors_in

FREE = EMPTY | FILLED | VIEWS | WHOLE_FILLS
OURS = "aten::"  # torch's own, in its records
# torch's class of compiled code is a private name.
UNSEEN: tuple[tuple[Any, str, str], ...] = (
    (torch.cuda.CUDAGraph.__mro__[1], "replay", "a CUDA graph"),
    (getattr(torch.cuda._utils, "_CudaKernel", None), "__call__", "a kernel in CUDA C"),
)
ran: list[str] = []  # of those, in this process


def note_unseen() -> None:
    """From now on, before the file is loaded, whatever runs of `UNSEEN` is noted in `ran`."""
    for owner, name, what in UNSEEN:
        if hasattr(owner, name):
            setattr(owner, name, _noted(getattr(owner, name), what))


def _noted(stock: Any, what: str) -> Any:
    @functools.wraps(stock)
    def run(*args: Any, **kwargs: Any) -> Any:
        ran.append(what)
        return stock(*args, **kwargs)

    return run


class Working(Watch):  # type: ignore[no-untyped-call]
    """Collects the operators that compute something, in order, without repeats."""

    def __init__(self, allow: Sequence[str]) -> None:
        super().__init__()
        self.free = FREE.union(allow)
        self.seen: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        own = body(func)
        if own is not None:
            with self:
                return own(*args, **(kwargs or {}))
        result = func(*args, **(kwargs or {}))
        name = func._schema.name.removeprefix(OURS)
        if (
            name not in self.free
            and name not in self.seen
            and (tensors_in([result]) or func._schema.is_mutable)
        ):
            self.seen.append(name)
        return result


class Worked:
    """Looks at calls of one function.

    Args:
        allow: operators that are the launcher's to use.

    Attributes:
        names: operators of torch's that computed something, in order, without repeats.
        counts: launches of Triton's kernels in each call.
        unseen: what else ran.
    """

    def __init__(self, allow: Sequence[str]) -> None:
        self.allow = allow
        self.names: list[str] = []
        self.known: Set[str] = frozenset()
        self.counts: list[int] = []
        self.unseen: list[str] = []

    def seen(self) -> Work:
        """So far."""
        return Work(self.names, min(self.counts), self.unseen)

    def look(self, function: Callable[..., Any], arguments: Sequence[Any]) -> None:
        """Call it twice: watched, and not."""
        with _recorded() as known, Working(self.allow) as working:
            function(*arguments)
        self.known = {_plain(name) for name in known}
        self.names += working.seen
        self.of(function)(*arguments)

    def of(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, whose every call is held against the one that was watched."""

        def called(*arguments: Any) -> Any:
            before = len(ran)
            with _recorded() as seen, _counted() as launches:
                result = function(*arguments)
            self.counts.append(len(launches))
            self.unseen += ran[before:]
            plain = dict.fromkeys(_plain(name) for name in seen)
            self.names += [n for n in plain if n not in FREE.union(self.allow, self.known, self.names)]
            return result

        return called


def _plain(name: str) -> str:
    """`add` of `aten::add_`: under a mode autograd adds out of place."""
    return name.removeprefix(OURS).rstrip("_")


@contextlib.contextmanager
def _counted() -> Iterator[list[str]]:
    """The names of the kernels that are launched meanwhile."""
    names: list[str] = []
    stock = JITFunction.run

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        names.append(self.__name__)
        return stock(self, *args, **kwargs)

    with mock.patch.object(JITFunction, "run", run):
        yield names


@contextlib.contextmanager
def _recorded() -> Iterator[list[str]]:
    """The names of torch's operators that run meanwhile, by the hooks of its profiler. None are known of a
    torch without these private names, nor beside a profiler of the file's own.
    """
    names: list[str] = []
    try:
        profiler = torch._C._profiler
        flags = False, False, False, False, False
        config = profiler.ProfilerConfig(profiler.ProfilerState.CPU, *flags, profiler._ExperimentalConfig())
        torch._C._autograd._enable_profiler_legacy(config)
    except (AttributeError, TypeError, RuntimeError):
        yield names
        return
    try:
        yield names
    finally:
        events = torch._C._autograd._disable_profiler_legacy()
        names += [e.name() for thread in events for e in thread if e.name().startswith(OURS)]
