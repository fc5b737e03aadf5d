"""What does the work of a call of full size, where a kernel is to: the call that is timed runs in no world.

One call is looked at before anything is timed, and one more before every round in which the file's code runs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

from triton.runtime.jit import JITFunction

from grader.operator_memory_effects import EMPTY, FILLED, VIEWS, WHOLE_FILLS, Watch, tensors_in
from grader.runner_measurements import Work

FREE = EMPTY | FILLED | VIEWS | WHOLE_FILLS


class Worked(Watch):  # type: ignore[no-untyped-call]
    """Looks at calls of one function.

    Args:
        allow: operators that are the launcher's to use.

    Attributes:
        names: operators of torch's that computed something, in order, without repeats.
        counts: launches of Triton's kernels in each call.
    """

    def __init__(self, allow: Sequence[str]) -> None:
        super().__init__()
        self.free = FREE.union(allow)
        self.names: list[str] = []
        self.counts: list[int] = []

    def seen(self) -> Work:
        """So far."""
        return Work(self.names, min(self.counts))

    def look(self, function: Callable[..., Any], arguments: Sequence[Any]) -> None:
        """Call it once, watched."""
        with _counted() as launches, self:
            function(*arguments)
        self.counts.append(len(launches))

    def ran(self, func: Any, args: Any, kwargs: dict[str, Any], result: Any) -> Any:
        name = func._schema.name.removeprefix("aten::")
        computed = tensors_in([result]) or func._schema.is_mutable
        if computed and name not in self.free and name not in self.names:
            self.names.append(name)
        return result


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
