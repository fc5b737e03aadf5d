"""What a rewritten kernel calls: what its Python means to Triton's compiler."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl
from triton.runtime import jit
from triton.runtime.jit import KernelInterface

from grader.memory import is_memory

# The words of tl by what they are before a launch puts others in their places.
_WORDS = {id(word): name for name, word in vars(tl).items() if tl.core.is_builtin(word)}
_WORDS |= {id(tl.range): "range", id(tl.static_range): "static_range"}


_ANSWERS: dict[Any, Any] = {}  # of constexpr functions, for as long as this process lives
_ASKED = tuple(
    getattr(jit, name) for name in ("ConstexprFunction", "BoundConstexprFunction") if hasattr(jit, name)
)
# Of Python's own those that compute; what they say of a block is told as it is.
_BUILTINS = (abs, divmod, float, getattr, hasattr, isinstance, len, max, min, pow, print, range, round, sum)
_QUICK = frozenset((tl.tensor, tl.dtype, tl.pointer_type, int, float, bool, str, type(None)))
# Of all builtin types those by which compiled code, or memory, is reached.
_ITERATORS = (map, filter, memoryview, bytearray)
_THEIRS = (str(Path(triton.__file__).parent), str(Path(__file__).parents[1]))


class Unspoken(TypeError):
    """The kernel calls what has no meaning on a GPU."""


class Uncompilable(Exception):
    """The kernel came to something that the compiler does not take."""


def refused(reason: str) -> Any:
    """In the place of what no compiled kernel may do.

    Raises:
        Uncompilable: always.
    """
    raise Uncompilable(reason)


def asserted(text: str) -> Callable[..., None]:
    """In the place of tl.static_assert, which `text` spells with its arguments."""

    def static_assert(cond: Any, msg: Any = "", **_: Any) -> None:
        if not cond:
            raise Uncompilable(str(getattr(msg, "value", msg)) or f"{text} does not hold")

    return static_assert


def joined(word: str, *sides: Callable[[], Any]) -> Any:
    """`a and b`, `a or b`: of tensors both, lane by lane; what is none may decide alone.

    Args:
        word: logical_and or logical_or.
    """
    tensors = []
    for side in sides:
        value = side()
        if isinstance(value, tl.tensor):
            tensors.append(value)
        elif bool(value) is (word == "logical_or"):
            return value
    while len(tensors) > 1:
        right, left = tensors.pop(), tensors.pop()
        tensors.append(getattr(left, word)(right))
    return tensors[0] if tensors else value


def negated(value: Any) -> Any:
    """`not a`: of a block lane by lane."""
    if isinstance(value, tl.tensor) and value.type.is_block():
        return value.__not__()
    return not value


def known(value: Any) -> bool:
    """Whether this is a word of tl."""
    return id(value) in _WORDS


def spoken(value: Any) -> Any:
    """A word of tl that the file gave a name of its own, as tl itself has it now."""
    return getattr(tl, _WORDS[id(value)])


def found(value: Any) -> Any:
    """What a kernel finds in a constant, behind an attribute, at an index or in a loop.

    Raises:
        Uncompilable: it is memory, of NumPy's for example, which a GPU has no way to but by tl.load.
    """
    if type(value) not in _QUICK and (kind := _memory(value)):
        raise Uncompilable(f"it takes no memory but a tensor's, by tl.load, and comes to a {kind}")
    return value


def _memory(value: Any) -> str:
    """What memory this is or holds, by its type; else nothing. What an iterator will give nobody knows."""
    if type(value) is tl.constexpr:
        value = value.value
    if isinstance(value, tuple | list | deque):
        return next(filter(None, map(_memory, value)), "")
    gives = hasattr(type(value), "__next__")
    return type(value).__name__ if gives or isinstance(value, torch.Tensor) or is_memory(value) else ""


def named(value: Any) -> Any:
    """What a kernel finds under a global name: a constant, for the compiler.

    Raises:
        Uncompilable: it is a block, or memory.
    """
    if isinstance(value, tl.tensor):
        raise Uncompilable("it takes no plain global, and comes to a block that no kernel loaded")
    return found(value)


def called(function: Any) -> Any:
    """What a kernel calls. Python that runs while a kernel is compiled runs once for the same arguments.

    Raises:
        Unspoken: it is a builtin, and not one of Triton's.
        Uncompilable: it is compiled code, of NumPy's for example.
    """
    if _foreign(function):
        raise Uncompilable(f"Unsupported function referenced: {function}")
    if isinstance(function, _ASKED):
        return partial(_once, function)
    if getattr(function, "__triton_builtin__", False) is True and not _tritons(function):
        raise Unspoken(
            f"{getattr(function, '__name__', 'this')} is called as a builtin of Triton, and is not one: it "
            "runs while the kernel is compiled, not on the GPU"
        )
    return function


def _foreign(function: Any) -> bool:
    """Whether it is a callable that Triton does not compile, and that has no Python to be seen by."""
    if isinstance(function, type):
        return not _compiles(function)
    if isinstance(function, partial) and _tritons(function.func):  # tl.multiple_of, while a launch is on
        return False
    if isinstance(function, (KernelInterface, *_ASKED)) or function in _BUILTINS or not callable(function):
        return False
    if type(function).__module__.startswith("triton."):  # a constant, which says what it is not
        return False
    bound = getattr(function, "__self__", None)
    plain = isinstance(bound, str | tuple | list | int | float)
    return not plain and not hasattr(getattr(function, "__func__", function), "__code__")


def _compiles(kind: type) -> bool:
    """Whether a kernel may make an object of this type."""
    if kind.__module__ == "builtins":
        return kind not in _ITERATORS
    tritons = kind.__module__.startswith("triton.") or hasattr(kind, "__triton_aggregate__")
    return tritons or issubclass(kind, tuple)


def _once(function: Any, *args: Any, **options: Any) -> Any:
    """What a constexpr_function answered first: the compiler asks it when it comes to new arguments."""
    plain = repr((args, sorted(options.items())))
    key = getattr(function, "__func__", function), id(getattr(function, "__self__", None)), plain
    if key not in _ANSWERS:
        _ANSWERS[key] = function(*args, **options)
    return _ANSWERS[key]


def _tritons(function: Any) -> bool:
    """Whether the code is Triton's, or our own in its place."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(_THEIRS)


def counted(steps: Any) -> Iterator[Any]:
    """The values of a loop's variable, each of which can be converted."""
    return (Step(value) if type(value) is int else found(value) for value in steps)


HALF = 1 << 31  # past it an int32 begins again from below


class Step(int):
    """A loop's variable, an int32 to the compiler; so is what is computed of it and other integers."""

    def to(self, dtype: Any, *options: Any, **more: Any) -> Any:
        """As a tensor of this dtype."""
        return tl.full((), int(self), tl.int32).to(dtype, *options, **more)


def _closed(name: str) -> Callable[[Any, Any], Any]:
    stock = getattr(int, name)

    def operation(self: Any, other: Any) -> Any:
        result = stock(self, other)
        return Step((result + HALF) % (2 * HALF) - HALF) if type(result) is int else result

    return operation


for _name in ("add", "sub", "mul", "floordiv", "mod", "lshift", "rshift"):
    for _side in ("", "r"):
        setattr(Step, f"__{_side}{_name}__", _closed(f"__{_side}{_name}__"))
