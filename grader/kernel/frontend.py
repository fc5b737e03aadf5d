"""A kernel and its arguments → TTIR, by Triton's own binder, front end and passes, without a GPU."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import sys
import traceback
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple
from unittest import mock

from triton._C.libtriton import ir, passes
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend
from triton.runtime.jit import JITFunction, create_function_from_signature

from grader.kernel.ttir import Uncompilable

TARGET = GPUTarget("cuda", 90, 32)
# Gone in 3.9: the first. What a version lacks, its front end writes otherwise from the start.
REWRITES = ("add_rewrite_tensor_pointer", "add_rewrite_tensor_descriptor_to_pointer")
NO_VALUE = ("num_warps", "num_stages", "num_ctas", "maxnreg", "launch_pdl")  # options that change none

SAID = re.compile(r"^(?P<path>.*):(?P<line>\d+):\d+: error: (?P<why>.*)$", re.MULTILINE)

_backend: Any = make_backend(TARGET)
_binders: dict[int, Any] = {}  # by the id of a kernel: what tells how Triton specialises a launch
_kernels: list[Any] = []  # all those, which are never to give their ids to others
_texts: dict[Any, str] = {}
_trees: dict[str, ast.Module] = {}


class Bound(NamedTuple):
    """A launch as its kernel sees it.

    Attributes:
        text: TTIR, with the places in the source of each operation.
        key: what tells it from others.
        given: the arguments that are no constants, in the kernel's order; those in a tuple one by one.
    """

    text: str
    key: Any
    given: list[Any]


def compiled(
    kernel: JITFunction[Any], args: tuple[Any, ...], options: dict[str, Any], whole: bool = False
) -> Bound:
    """What the compiler makes of a launch.

    Args:
        whole: what nothing follows from stays, such as a load whose value nobody uses yet.

    Raises:
        CompilationError, Uncompilable: it does not take the kernel.
        TypeError, KeyError, RuntimeError: it does not take the launch.
    """
    bound, specialisation, rest = _bind(kernel, args, options)
    specialisation = [(kind, _known(value)) for kind, value in specialisation]
    key = _named(kernel), _spelled(specialisation), str(sorted(_valued(rest).items())), whole
    _unchanged(kernel)
    if key not in _texts:
        packed = kernel._pack_args(_backend, options, bound, specialisation, rest)
        with _heard(kernel.fn.__code__.co_filename):
            _texts[key] = _text(kernel, *packed, whole=whole)
    kinds = zip(bound.values(), specialisation, strict=True)
    return Bound(_texts[key], key, [one for value, (kind, _) in kinds for one in _given(value, kind)])


def _given(value: Any, kind: Any) -> Iterator[Any]:
    """What the compiler makes no constants of."""
    if isinstance(kind, tuple | list):
        for pair in zip(value, kind, strict=True):
            yield from _given(*pair)
    elif kind != "constexpr":
        yield value


def _bind(
    kernel: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[dict[str, Any], list[Any], Any]:
    """Arguments by name, how Triton specialises each, and the options of the launch."""
    if id(kernel) not in _binders:
        _binders[id(kernel)] = create_function_from_signature(kernel.signature, kernel.params, _backend)
        _kernels.append(kernel)
    # device_assert is compiled in debug mode alone; so would be checks of overflow, which no GPU makes.
    options |= {"debug": True, "sanitize_overflow": False}
    return _binders[id(kernel)](*args, **options)  # type: ignore[no-any-return]


def specialised(kernel: Any, args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, str]:
    """What Triton tells a launch of this kernel from others by, argument by argument."""
    bound, specialisation, _ = _bind(kernel, args, dict(options))
    return {name: _spelled([one]) for name, one in zip(bound, specialisation, strict=True)}


def _known(value: Any) -> Any:
    """What Triton knows of an argument, but not that 16 divides it, which changes no value."""
    if isinstance(value, tuple):
        return tuple(map(_known, value))
    return "" if value == "D" else value


def _valued(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in NO_VALUE}


def _spelled(specialisation: list[Any]) -> str:
    """Of each argument its type, whether it is 1 or divisible by 16, or the constant that it is."""
    return str([(kind, getattr(value, "cache_key", value)) for kind, value in specialisation])


def _named(kernel: Any) -> str:
    """The key of its text and of all that it calls.

    Raises:
        Uncompilable: it names what no kernel can call; Triton says so before it compiles, and of no line.
    """
    try:
        with contextlib.nullcontext() if kernel.hash else mock.patch.object(JITFunction, "parse", _parsed):
            return str(kernel.cache_key)
    except RuntimeError as error:
        refused = Uncompilable(str(error))
        refused.kernel_line = _line(error, kernel.fn.__code__.co_filename)  # type: ignore[attr-defined]
        raise refused from None


def _line(error: BaseException, path: str) -> int:
    """Where Triton's walk over a function's source ended; 0 where that is in another file."""
    frames = [frame.f_locals for frame, _ in traceback.walk_tb(error.__traceback__)]
    function = next(f["self"] for f in reversed(frames) if isinstance(f.get("self"), JITFunction))
    node = next((f["node"] for f in reversed(frames) if hasattr(f.get("node"), "lineno")), None)
    if node is None or function.fn.__code__.co_filename != path:
        return 0
    return begins(function) + int(node.lineno) - 1


def begins(function: Any) -> int:
    """The line of the file on which a function's source begins, which Triton keeps without decorators."""
    above = next(n for n, text in enumerate(function.raw_src) if text.lstrip().startswith("def "))
    return int(function.starting_line_number + above)


def _unchanged(kernel: Any) -> None:
    """Raises RuntimeError, as Triton does, where a global that the kernel was compiled with has changed."""
    for (name, _), (value, names) in kernel.used_global_vals.items():
        if names.get(name, value) != value:
            raise RuntimeError(f"Global variable {name} has changed since we compiled this kernel")


@contextlib.contextmanager
def _heard(path: str) -> Iterator[None]:
    """MLIR says on stderr what it does not take, beside the whole program: of that the reason is kept.

    Raises:
        Uncompilable: the reason, with its line where it is one of this file.
    """
    sys.stdout.flush()
    kept, said = [os.dup(1), os.dup(2)], os.memfd_create("said")
    try:
        for number in (1, 2):
            os.dup2(said, number)
        yield
        sys.stdout.flush()  # of tl.static_print
    except RuntimeError:
        told = SAID.search(_content(said))
        if told is None:
            raise
        refused = Uncompilable(told["why"])
        if told["path"] == path:
            refused.kernel_line = int(told["line"])  # type: ignore[attr-defined]
        raise refused from None
    else:
        os.write(kept[0], _content(said).encode())
    finally:
        for number, stood in zip((1, 2), kept, strict=True):
            os.dup2(stood, number)
            os.close(stood)
        os.close(said)


def _content(file: int) -> str:
    return os.pread(file, 1 << 20, 0).decode(errors="replace")


@cache
def _context() -> Any:
    """Where all programs of this process live; to make one anew each time took 2 ms."""
    context = ir.context()
    ir.load_dialects(context)
    _backend.load_dialects(context)
    return context


def _parsed(function: Any) -> ast.Module:
    """In the place of JITFunction.parse, which is asked for `tl.sum` and all that it calls each time."""
    text: str = function.src
    if text not in _trees:
        _trees[text] = ast.parse(text)
    return _trees[text]


def _text(kernel: Any, options: Any, signature: Any, constants: Any, attributes: Any, *, whole: bool) -> str:
    """TTIR after Triton's inliner and its cheapest passes."""
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=attributes)
    functions, modules = _backend.get_codegen_implementation(options), _backend.get_module_map()
    with mock.patch.object(JITFunction, "parse", _parsed):
        module: Any = source.make_ir(TARGET, options, functions, modules, _context())
    manager = ir.pass_manager(_context())
    if not whole:  # this one drops what nobody uses, too
        passes.common.add_inliner(manager)
    for name in REWRITES:
        if hasattr(passes.ttir, name):
            getattr(passes.ttir, name)(manager)
    if not whole:
        passes.common.add_canonicalizer(manager)
        passes.common.add_cse(manager)
    passes.common.add_symbol_dce(manager)
    manager.run(module, "ttir")
    return str(module.str())
