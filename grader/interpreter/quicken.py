"""Triton's interpreter at more than twice its speed, from outside; nothing that it computes changes.

It spends most of its time on Triton's own objects: the type of every block is checked and spelled anew, the
language is patched anew for every nested `tl.sum` or `tl.max`, every integer sum is worked out twice, and a
random number takes 150 operations. Here each of these is done once and remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import triton.language as tl
from triton.language import core, random
from triton.language.semantic import TritonSemantic
from triton.runtime import interpreter

from grader.interpreter import shapes
from grader.interpreter.philox import philox

REPAIRED = {dtype.name for dtype in (tl.bfloat16, tl.float8e4nv, tl.float8e5)}  # bf16.py and fp8.py compute


def install() -> None:
    """Quicken the interpreter of this process; to be called once."""
    random.philox_impl = philox
    _skip_overflow_checks()
    shapes.install()
    _compare_at_a_glance()
    _handle_at_a_glance()
    _remember_builtins()
    _patch_language_once()
    _remember_dtypes()


def _skip_overflow_checks() -> None:
    """Every + and * of integers is computed again in 64 bits, for an assertion of debug mode alone."""
    builder: Any = interpreter.interpreter_builder
    builder.options = replace(builder.options, sanitize_overflow=False)


def _compare_at_a_glance() -> None:
    """What is the same object is equal, and so are plain dtypes of one name."""
    plain_type = core.dtype
    stock_equal, stock_unwrap = plain_type.__eq__, core._unwrap_if_constexpr
    semantic: Any = TritonSemantic
    plain = {int, float, bool, str, type(None), core.tensor, core.dtype, core.block_type, core.pointer_type}

    def equal(self: Any, other: Any) -> Any:
        if self is other:
            return True
        if type(self) is type(other) is plain_type:
            return self.name == other.name
        return stock_equal(self, other)

    def unwrap(value: Any) -> Any:
        kind = type(value)
        if kind is core.constexpr:
            return value.value
        return value if kind in plain else stock_unwrap(value)

    stock_check = semantic.binary_op_type_checking_impl

    def check(self: Any, lhs: Any, rhs: Any, *args: Any, **kwargs: Any) -> Any:
        alike = type(lhs) is type(rhs) is core.tensor and lhs.dtype is rhs.dtype
        if alike and type(lhs.dtype) is plain_type and not (kwargs.get("div_or_mod") or args[3:4] == (True,)):
            return self.broadcast_impl_value(lhs, rhs)
        return stock_check(self, lhs, rhs, *args, **kwargs)

    semantic.binary_op_type_checking_impl = check
    core.dtype.__eq__ = equal
    core._unwrap_if_constexpr = unwrap


def _handle_at_a_glance() -> None:
    """A block's data is held against its dtype at once, and an operation on plain numbers is one call."""
    handle: Any = interpreter.TensorHandle
    builder: Any = interpreter.InterpreterBuilder
    stock_look, stock_binary = handle.__post_init__, builder.binary_op

    def init_handle(self: Any, data: Any, dtype: Any, attr: Any = None) -> None:
        self.data, self.dtype, self.attr = data, dtype, {} if attr is None else attr
        size = data.itemsize
        if size > 1 and type(dtype) is not core.pointer_type and 8 * size > dtype.primitive_bitwidth:
            stock_look(self)

    def binary_op(self: Any, lhs: Any, rhs: Any, op: Callable[..., Any]) -> Any:
        dtype = lhs.dtype
        if type(dtype) is not core.dtype or dtype.name in REPAIRED:
            return stock_binary(self, lhs, rhs, op)
        data = op(lhs.data, rhs.data)
        if data.dtype == np.bool_:
            return handle(data, tl.int1)
        if 8 * data.itemsize > max(8, dtype.primitive_bitwidth):
            data = data.astype(interpreter._get_np_dtype(dtype))
        return handle(data, dtype)

    handle.__init__, builder.binary_op = init_handle, binary_op


def _remember_builtins() -> None:
    """What a launch patches is looked up once, and a patch is one call instead of three."""
    stock: Any = interpreter._patch_builtin
    semantic = getattr(interpreter, "interpreter_semantic", TritonSemantic(interpreter.interpreter_builder))
    known: dict[int, tuple[Any, list[tuple[str, Any]]]] = {}

    def direct(patch: Any) -> Any:
        function = getattr(patch.__kwdefaults__["member"], "__wrapped__", None)
        if function is None:
            return patch

        def call(*args: Any, **kwargs: Any) -> Any:
            kwargs["_semantic"] = semantic
            return function(*args, **kwargs)

        return call

    class Recorder:
        def __init__(self) -> None:
            self.patches: list[tuple[str, Any]] = []

        def set_attr(self, _: Any, name: str, value: Any) -> None:
            self.patches.append((name, direct(value)))

    def patch_builtin(module: Any, builder: Any, scope: Any) -> None:
        if id(module) not in known:
            recorder = Recorder()
            stock(module, builder, recorder)
            known[id(module)] = (module, recorder.patches)
        for name, value in known[id(module)][1]:
            scope.set_attr(module, name, value)

    interpreter._patch_builtin = patch_builtin


def _patch_language_once() -> None:
    """Let nested device functions reuse the patches of their launch: half of a softmax went into them."""
    stock_patch, stock_call = interpreter._patch_lang, interpreter.GridExecutor.__call__
    patched: set[int] = set()

    class Nothing:
        def restore(self) -> None:
            """The launch restores what it patched."""

    def patch_lang(function: Any) -> Any:
        modules = {id(value) for value in function.__globals__.values() if value is tl or value is tl.core}
        if patched and modules <= patched:
            return Nothing()
        patched.update(modules)
        return stock_patch(function)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        patched.clear()
        try:
            return stock_call(self, *args, **kwargs)
        finally:
            patched.clear()

    interpreter._patch_lang = patch_lang
    interpreter.GridExecutor.__call__ = call


def _remember_dtypes() -> None:
    """numpy's dtype of a plain dtype."""
    stock: Any = interpreter._get_np_dtype
    known: dict[str, Any] = {}

    def get_np_dtype(dtype: Any) -> Any:
        if type(dtype) is not tl.dtype:
            return stock(dtype)
        if dtype.name not in known:
            known[dtype.name] = stock(dtype)
        return known[dtype.name]

    interpreter._get_np_dtype = get_np_dtype
