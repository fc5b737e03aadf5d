"""torch's own tests of an operator that the learner's file registered with it.

They are those of torch.library.opcheck, and a compilation by torch.compile without a break in the graph. No
code is generated, and kernels are launched as by any other call: no GPU is needed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest import mock

import torch
from torch._subclasses.fake_tensor import FakeTensor
from triton.runtime.jit import JITFunction

from grader.operator_memory_effects import Watch
from grader.runner import error_messages
from grader.runner.command_loop import Reply
from grader.runner.tensors_on_the_wire import unpack_arguments
from grader.runner_answers import Registered

Drawn = Callable[[], tuple[Any, ...]]  # gives the arguments of a call, anew each time
OPCHECK = "test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"


class Names(Watch):  # type: ignore[no-untyped-call]
    """Collects the names of the operators that run."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.add(func.name())
        return func(*args, **(kwargs or {}))


def tested(runner: Any, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
    """Of the runner's file: the first test that fails on these arguments, and what torch says."""

    def drawn() -> tuple[Any, ...]:
        arguments = unpack_arguments(header["arguments"], [bytearray(blob) for blob in blobs], runner.device)
        for position in header["of"]:
            arguments[position].requires_grad_()
        return tuple(arguments)

    with warnings.catch_warnings(), mock.patch.object(JITFunction, "run", _held(JITFunction.run)):
        warnings.simplefilter("ignore")  # torch tells where a forward pass came from
        for name, test in _tests(getattr(runner.module, header["entry"]), header["operator"], drawn):
            try:
                test()
            except Exception as error:
                return Registered(name, error_messages.describe(error, runner.path).message), []
    return Registered("", ""), []


def _held(run: Callable[..., Any]) -> Callable[..., Any]:
    """A launch that takes no fake tensor: on a GPU it would write to address 0, and the GPU is lost then."""

    def held(kernel: Any, *args: Any, **options: Any) -> Any:
        if any(isinstance(one, FakeTensor) for one in (*args, *options.values())):
            raise RuntimeError("Cannot access data pointer of a fake tensor.")
        return run(kernel, *args, **options)

    return held


def _tests(entry: Any, operator: str, drawn: Drawn) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Each by its name."""
    yield "when it is called", lambda: _called(entry, operator, drawn())
    space, name = operator.split("::")
    for test in OPCHECK:
        overload = getattr(getattr(torch.ops, space), name).default
        yield f"opcheck's {test}", partial(torch.library.opcheck, overload, drawn(), test_utils=test)
    yield "torch.compile(fullgraph=True)", lambda: _compiled(entry, drawn(), drawn())


def _called(entry: Any, operator: str, arguments: tuple[Any, ...]) -> None:
    with Names() as names:
        entry(*arguments)
    if operator not in names.seen:
        raise LookupError("your function calls no operator that is registered under this name.")


def _compiled(entry: Any, ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> None:
    """That the entry, compiled in one piece, does what it does."""
    torch._dynamo.reset()
    compiled: Any = torch.compile(entry, backend="aot_eager", fullgraph=True)
    for one, other in zip((compiled(*theirs), *theirs), (entry(*ours), *ours), strict=True):
        if one is not None or other is not None:
            torch.testing.assert_close(one, other, equal_nan=True)
