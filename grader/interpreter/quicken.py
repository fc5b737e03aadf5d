"""Triton's interpreter at more than twice its speed, from outside; nothing that it computes changes.

It spends most of its time on Triton's own objects: the type of every block is checked and spelled anew, the
language is patched anew for every nested `tl.sum` or `tl.max`, every integer sum is worked out twice, and a
random number takes 150 operations. Here each of these is done once and remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import triton.language as tl
from triton.language import core, random
from triton.language.semantic import TritonSemantic
from triton.runtime import interpreter

from grader.interpreter.philox import philox

_Shape: Any = core.tuple


def install() -> None:
    """Quicken the interpreter of this process; to be called once."""
    random.philox_impl = philox
    _skip_overflow_checks()
    _remember_shapes()
    _compare_at_a_glance()
    _remember_builtins()
    _patch_language_once()
    _remember_dtypes()


def _skip_overflow_checks() -> None:
    """Every + and * of integers is computed again in 64 bits, for an assertion of debug mode alone."""
    builder: Any = interpreter.interpreter_builder
    builder.options = replace(builder.options, sanitize_overflow=False)


def _remember_shapes() -> None:
    """A shape is checked, spelled and wrapped once; blocks of one shape then share the same object."""
    block, tensor = core.block_type, core.tensor
    stock: Callable[..., None] = block.__init__
    forms: dict[Any, tuple[Any, int, str]] = {}  # by the sizes, and by the id of the shape that they share
    wrapped: dict[int, tuple[Any, Any]] = {}
    scalar = (_Shape([]), core.constexpr(1))

    def init_block(self: Any, element_ty: Any, shape: Any) -> None:
        form = forms.get(id(shape)) if type(shape) is _Shape else None
        if form is None:
            sizes = tuple(getattr(size, "value", size) for size in shape)
            if any(type(size) is not int for size in sizes) or sizes not in forms:
                stock(self, element_ty, shape)
                form = (self.shape, self.numel, str(self.shape))
                forms[sizes] = forms[id(self.shape)] = form
            form = forms[sizes]
        self.element_ty = element_ty
        self.shape, self.numel, text = form
        self.name = f"<{text}, {element_ty}>"

    def init_tensor(self: Any, handle: Any, type: Any) -> None:
        self.handle, self.type, self.dtype = handle, type, type.scalar
        self.shape, self.numel = scalar
        if type.is_block():
            key = id(type.shape)
            if key not in wrapped:
                sizes = _Shape([core.constexpr(size) for size in type.shape])
                wrapped[key] = (sizes, core.constexpr(type.numel))
            self.shape, self.numel = wrapped[key]

    block.__init__, tensor.__init__ = init_block, init_tensor


def _compare_at_a_glance() -> None:
    """What is the same object is equal; blocks that share a shape need no broadcasting."""
    stock_equal, stock_unwrap = core.dtype.__eq__, core._unwrap_if_constexpr
    semantic: Any = TritonSemantic
    stock_broadcast = semantic.broadcast_impl_value
    plain = {int, float, bool, str, type(None), core.tensor, core.dtype, core.block_type, core.pointer_type}

    def unwrap(value: Any) -> Any:
        kind = type(value)
        if kind is core.constexpr:
            return value.value
        return value if kind in plain else stock_unwrap(value)

    def broadcast(self: Any, lhs: Any, rhs: Any) -> Any:
        blocks = lhs.type.is_block(), rhs.type.is_block()
        if not any(blocks) or (all(blocks) and lhs.type.shape is rhs.type.shape):
            return lhs, rhs
        return stock_broadcast(self, lhs, rhs)

    stock_check = semantic.binary_op_type_checking_impl

    def check(self: Any, lhs: Any, rhs: Any, *args: Any, **kwargs: Any) -> Any:
        alike = type(lhs) is type(rhs) is core.tensor and lhs.dtype is rhs.dtype
        if alike and type(lhs.dtype) is core.dtype and not (kwargs.get("div_or_mod") or args[3:4] == (True,)):
            return broadcast(self, lhs, rhs)
        return stock_check(self, lhs, rhs, *args, **kwargs)

    semantic.binary_op_type_checking_impl = check
    core.dtype.__eq__ = lambda self, other: self is other or stock_equal(self, other)
    core._unwrap_if_constexpr = unwrap
    semantic.broadcast_impl_value = broadcast


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
