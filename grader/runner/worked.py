"""What torch computes in a call of full size, where a kernel is to: the call that is timed runs in no world.

A dispatch mode sees every operator, and code can see that there is one. So torch's own records of a call that
nobody watches are held against those of one that is watched: an operator that only the first has is told,
too. Both are made before anything is timed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any

import torch

from grader.operators import EMPTY, FILLED, VIEWS, WHOLE_FILLS, Watch, body, tensors_in

FREE = EMPTY | FILLED | VIEWS | WHOLE_FILLS
OURS = "aten::"  # torch's own, in its records


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
    """

    def __init__(self, allow: Sequence[str]) -> None:
        self.allow = allow
        self.names: list[str] = []
        self.known: Set[str] = frozenset()

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
            with _recorded() as seen:
                result = function(*arguments)
            plain = dict.fromkeys(_plain(name) for name in seen)
            self.names += [n for n in plain if n not in FREE.union(self.allow, self.known, self.names)]
            return result

        return called


def _plain(name: str) -> str:
    """`add` of `aten::add_`: under a mode autograd adds out of place."""
    return name.removeprefix(OURS).rstrip("_")


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
