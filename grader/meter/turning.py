"""Where an int32 of a running program passes 2³¹: the lines of the products and sums that turn negative.

The address that is found beside its tensor in the end may be made of several.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
from triton.runtime import interpreter

from grader.interpreter import whereabouts

_builder: Any = interpreter.interpreter_builder
OPERATIONS: dict[str, Callable[..., Any]] = {"create_mul": np.multiply, "create_add": np.add}


class Turning:
    """Follows the integers of programs.

    Args:
        path: the learner's file; lines are those of it.

    Attributes:
        lines: on which a number of the running program passed 2³¹ in int32.
    """

    def __init__(self, path: str) -> None:
        self.path, self.lines = path, set[int]()

    @contextlib.contextmanager
    def followed(self) -> Iterator[None]:
        """While the block runs, what interpreted kernels multiply and add is looked at."""
        with contextlib.ExitStack() as stack:
            for name, operation in OPERATIONS.items():
                made = partial(self._made, getattr(_builder, name), operation)
                stack.enter_context(mock.patch.object(_builder, name, made))
            yield

    def _made(self, stock: Callable[..., Any], operation: Callable[..., Any], lhs: Any, rhs: Any) -> Any:
        made = stock(lhs, rhs)
        if made.data.dtype == np.int32:
            whole = operation(lhs.data.astype(np.int64), rhs.data.astype(np.int64))
            if (whole != made.data).any():
                self.lines.add(whereabouts.line(self.path))
        return made
