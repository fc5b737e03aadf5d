"""Repairs of Triton's CPU interpreter, installed from outside; `canaries.py` proves each before grading.

Triton 3.4 to 3.9 silently compute wrong bf16 in the interpreter (it works on the uint16 bit patterns),
truncate fp32→bf16 instead of rounding to nearest even, let NaN through tl.maximum, tl.minimum and tl.clamp,
cannot add bf16 atomically, cannot call libdevice, and cannot autotune without a driver. Further repairs are
of speed alone: the interpreter patches the whole language anew for every nested `tl.sum` or `tl.max`, works
out every integer sum twice, and takes 150 operations for a random number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import triton.language as tl
from triton.language import random
from triton.runtime import interpreter
from triton.runtime.autotuner import Autotuner

from grader.meter import bf16, order
from grader.meter.philox import philox

Array = Any  # numpy's generic array types say nothing useful about bit patterns
_Handle: Any = interpreter.TensorHandle
_installed = False


def install() -> None:
    """Repair the interpreter of this process, once. Quiets numpy too: overflow to Inf is what GPUs do."""
    global _installed
    if _installed:
        return
    _installed = True
    np.seterr(all="ignore")
    builder: Any = interpreter.InterpreterBuilder
    bf16.repair(builder)
    _repair_extrema(builder)
    _repair_autotune()
    _repair_libdevice()
    random.philox_impl = philox
    _skip_overflow_checks()
    _patch_language_once()


def _repair_extrema(builder: Any) -> None:
    """tl.maximum, tl.minimum and tl.clamp drop NaN unless they are asked not to, as fmax() and fmin() do."""
    stock_clamp = builder.create_clampf

    def create_clampf(self: Any, x: Any, low: Any, high: Any, propagate_nan: Any) -> Any:
        if propagate_nan == tl.PropagateNan.ALL:
            return stock_clamp(self, x, low, high, propagate_nan)
        return self.create_minnumf(self.create_maxnumf(x, low), high)

    builder.create_maxnumf = lambda self, lhs, rhs: self.binary_op(lhs, rhs, np.fmax)
    builder.create_minnumf = lambda self, lhs, rhs: self.binary_op(lhs, rhs, np.fmin)
    builder.create_clampf = create_clampf


def _repair_autotune() -> None:
    """Without a driver nothing can be timed: the call's seed says which config is the fastest.

    So over many calls every config gives a result that is compared. The first tuning runs them all, as a GPU
    does: one that raises shows, and so do sums that pile up. Later ones run none, for what they write would
    hide what the chosen config leaves out.
    """
    stock: Any = Autotuner._bench

    def run_once(call: Callable[[], None], quantiles: Any = None) -> list[float]:
        call()
        return [0.0, 0.0, 0.0]

    def bench(self: Any, *args: Any, config: Any, **meta: Any) -> list[float]:
        time = 0.0 if self.cache else stock(self, *args, config=config, **meta)[0]
        return [time + order.lot(str(config))] * 3

    tuner: Any = Autotuner
    tuner.do_bench = property(lambda self: run_once, lambda self, value: None)
    tuner._bench = bench


def _repair_libdevice() -> None:
    from triton.language.extra import cuda, libdevice

    from grader.meter.libdevice import FUNCTIONS

    for name, function in FUNCTIONS.items():
        setattr(libdevice, name, _elementwise(name, function))
        setattr(cuda.libdevice, name, _elementwise(name, function))


def _elementwise(name: str, function: Callable[..., Array]) -> Callable[..., Any]:
    """A numpy function as a device function: computed in fp64, rounded once; libdevice is 1–2 ulp off."""

    def device_function(x: Any, *others: Any, **_: Any) -> Any:
        if getattr(x, "dtype", tl.float32).scalar in (tl.float16, tl.bfloat16):
            raise ValueError(f"libdevice.{name} has no form for {x.dtype.scalar}: convert to fp32 first")
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


def _skip_overflow_checks() -> None:
    """Every + and * of integers is computed again in 64 bits, for an assertion of debug mode alone."""
    builder: Any = interpreter.interpreter_builder
    builder.options = replace(builder.options, sanitize_overflow=False)


def _patch_language_once() -> None:
    """Let nested device functions reuse the patches of their launch: half of a softmax went into them."""
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
