"""Repairs of Triton's CPU interpreter, installed from outside; `canaries.py` proves each before anything is
graded.

Triton 3.4 to 3.9 silently compute wrong bf16 in the interpreter (it works on the uint16 bit patterns),
truncate fp32→bf16 instead of rounding to nearest even, cannot call libdevice, and cannot autotune without a
driver. A further
repair is of speed alone: the interpreter patches the whole language anew for every nested `tl.sum` or
    `tl.max`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.autotuner import Autotuner

Array = Any  # numpy's generic array types say nothing useful about bit patterns
_Handle: Any = interpreter.TensorHandle
_installed = False


def install() -> None:
    """Repair the interpreter of this process, once. Quiets numpy too: overflow to Inf is the GPU's
    behaviour.
    """
    global _installed
    if _installed:
        return
    _installed = True
    np.seterr(all="ignore")
    builder: Any = interpreter.InterpreterBuilder
    _repair_bf16_arithmetic(builder)
    _repair_bf16_constants(builder)
    _repair_bf16_casts(builder)
    _repair_dot(builder)
    _repair_autotune()
    _repair_libdevice()
    _patch_language_once()


def widen(bits: Array) -> Array:
    """bf16 bit patterns (uint16) → fp32 values; exact."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def narrow(values: Array) -> Array:
    """fp32 values → bf16 bit patterns (uint16), rounded to nearest even; every NaN becomes the quiet one."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


def _is_bf16(handle: Any) -> bool:
    return bool(handle.dtype.scalar == tl.bfloat16)


def _repair_bf16_arithmetic(builder: Any) -> None:
    stock_binary, stock_fma, stock_unary = builder.binary_op, builder.create_fma, builder.unary_op

    def binary_op(self: Any, lhs: Any, rhs: Any, op: Callable[..., Array]) -> Any:
        if not _is_bf16(lhs):
            return stock_binary(self, lhs, rhs, op)
        result = op(widen(lhs.data), widen(rhs.data))
        if result.dtype.kind == "f":
            return _Handle(narrow(result), tl.bfloat16)
        return _Handle(result, tl.int1)  # a comparison

    def create_fma(self: Any, x: Any, y: Any, z: Any) -> Any:
        if not _is_bf16(z):
            return stock_fma(self, x, y, z)
        return _Handle(narrow(widen(x.data) * widen(y.data) + widen(z.data)), tl.bfloat16)

    def unary_op(self: Any, arg: Any, op: Callable[..., Array]) -> Any:
        if not _is_bf16(arg):
            return stock_unary(self, arg, op)
        return _Handle(narrow(op(widen(arg.data))), tl.bfloat16)

    builder.binary_op, builder.create_fma, builder.unary_op = binary_op, create_fma, unary_op


def _repair_bf16_constants(builder: Any) -> None:
    """`x * 2.0` and tl.full(…, tl.bfloat16) ask for a constant that the stock interpreter cannot make."""

    def get_bf16(self: Any, value: float) -> Any:
        return _Handle(narrow(np.array([value], np.float32)), tl.bfloat16)

    builder.get_bf16 = get_bf16


def _repair_bf16_casts(builder: Any) -> None:
    stock_cast, stock_fp_to_fp = builder.cast_impl, builder.create_fp_to_fp

    def cast_impl(self: Any, src: Any, dst_type: Any) -> Any:
        if _is_bf16(src):
            src = _Handle(widen(src.data), tl.float32)
        if dst_type.scalar == tl.bfloat16:
            return _Handle(narrow(src.data.astype(np.float32)), tl.bfloat16)
        return stock_cast(self, src, dst_type)

    def create_fp_to_fp(self: Any, src: Any, dst_type: Any, rounding_mode: Any) -> Any:
        if src.dtype.scalar == tl.float32 and dst_type.scalar == tl.bfloat16:
            return _Handle(narrow(src.data), tl.bfloat16)
        return stock_fp_to_fp(self, src, dst_type, rounding_mode)

    builder.cast_impl, builder.create_fp_to_fp = cast_impl, create_fp_to_fp


def _repair_dot(builder: Any) -> None:
    """bf16 operands are widened; fp16 ones with an fp32 accumulator too, which is exact and several times
    faster.
    """
    stock = builder.create_dot

    def create_dot(self: Any, a: Any, b: Any, d: Any, *rest: Any, **options: Any) -> Any:
        if _is_bf16(a):
            left, right = widen(a.data), widen(b.data)
        elif a.data.dtype == np.float16 and b.data.dtype == np.float16 and d.data.dtype == np.float32:
            left, right = a.data.astype(np.float32), b.data.astype(np.float32)
        else:
            return stock(self, a, b, d, *rest, **options)
        if _is_bf16(d):
            return _Handle(narrow(np.matmul(left, right) + widen(d.data)), tl.bfloat16)
        return _Handle((np.matmul(left, right) + d.data).astype(d.data.dtype), d.dtype.scalar)

    builder.create_dot = create_dot


def _repair_autotune() -> None:
    """Without a driver nothing can be timed, so every config is run once (each must run) and the first
    is kept.
    """

    def run_once(call: Callable[[], None], quantiles: Any = None) -> list[float]:
        call()
        return [1.0, 1.0, 1.0]

    Autotuner.do_bench = property(lambda self: run_once, lambda self, value: None)


def _repair_libdevice() -> None:
    from triton.language.extra import cuda, libdevice

    from grader.meter.libdevice import FUNCTIONS

    for name, function in FUNCTIONS.items():
        setattr(libdevice, name, _elementwise(function))
        setattr(cuda.libdevice, name, _elementwise(function))


def _elementwise(function: Callable[..., Array]) -> Callable[..., Any]:
    """A numpy function as a device function. It computes in fp64 and rounds once, as libdevice nearly does
    (1–2 ulp).
    """

    def device_function(x: Any, *others: Any, **_: Any) -> Any:
        arrays = [getattr(arg, "handle", None) for arg in (x, *others)]
        values = [
            np.float64(raw) if handle is None else handle.data.astype(np.float64)
            for handle, raw in zip(arrays, (x, *others), strict=True)
        ]
        result = function(*values)
        if result.dtype == bool:
            return tl.tensor(_Handle(result.astype(np.int32), tl.int32), x.type.with_element_ty(tl.int32))
        return tl.tensor(_Handle(result.astype(x.handle.data.dtype), x.handle.dtype), x.type)

    return device_function


def _patch_language_once() -> None:
    """Let nested device functions reuse the patches of their launch: half of a softmax was spent on patching
    again.
    """
    stock_patch, stock_call = interpreter._patch_lang, interpreter.GridExecutor.__call__
    stock_dtype = interpreter._get_np_dtype
    patched: set[int] = set()
    known: dict[str, Any] = {}

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

    def get_np_dtype(dtype: Any) -> Any:
        if type(dtype) is not tl.dtype:
            return stock_dtype(dtype)
        if dtype.name not in known:
            known[dtype.name] = stock_dtype(dtype)
        return known[dtype.name]

    interpreter._patch_lang = patch_lang
    interpreter.GridExecutor.__call__ = call
    interpreter._get_np_dtype = get_np_dtype
