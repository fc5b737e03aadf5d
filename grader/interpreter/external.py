"""libdevice in the interpreter: what its functions compute, by numpy; one that is not here says so itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl
from triton.language.extra import cuda, libdevice
from triton.runtime import interpreter

from grader.interpreter.libdevice import CONVERSIONS, FUNCTIONS
from grader.interpreter.meanings import Uncompilable

Array = Any  # numpy's generic array types say nothing useful about bit patterns
_Handle: Any = interpreter.TensorHandle
_builder: Any = interpreter.interpreter_builder


def repair() -> None:
    """Replace all of libdevice: Triton's own functions have no body, and give None."""
    type(_builder).create_libdevice = _computed
    ours = {name: _elementwise(name, function) for name, function in FUNCTIONS.items()}
    ours |= {name: _converted(name, *of) for name, of in CONVERSIONS.items()}
    for module in (libdevice, cuda.libdevice):
        for name, stock in vars(module).copy().items():
            if inspect.isroutine(stock) and not name.startswith("_"):
                setattr(module, name, ours.get(name) or _absent(name))


def _elementwise(name: str, function: Callable[..., Array]) -> Callable[..., Any]:
    """A numpy function as a device function: computed in fp64, rounded once; libdevice is 1–2 ulp off."""

    def device_function(x: Any, *others: Any, **_: Any) -> Any:
        if getattr(x, "dtype", tl.float32).scalar in (tl.float16, tl.bfloat16):
            raise Uncompilable(f"libdevice.{name} has no form for {x.dtype.scalar}: convert to fp32 first")
        handles = [
            arg.handle if isinstance(arg, tl.tensor) else _Handle(np.array([arg], np.float64), tl.float64)
            for arg in (x, *others)
        ]
        result = _builder.create_libdevice(name, function, *handles)
        return tl.tensor(result, x.type.with_element_ty(result.dtype))

    return device_function


def _computed(_: Any, name: str, function: Callable[..., Array], x: Any, *others: Any) -> Any:
    """One function, of blocks; by its name it is known to whoever looks at what the builder makes."""
    result = function(*(handle.data.astype(np.float64) for handle in (x, *others)))
    if result.dtype == bool:
        return _Handle(result, tl.int1)
    return _Handle(result.astype(x.data.dtype), x.dtype)


def _converted(
    name: str, function: Callable[[Array], Array], takes: tuple[tl.dtype, ...], gives: tl.dtype
) -> Callable[..., Any]:
    """A numpy function as a device function of the dtypes that libdevice takes there, and no others."""

    def device_function(x: Any, **_: Any) -> Any:
        if x.dtype.scalar not in takes:
            raise Uncompilable(f"libdevice.{name} has no form for {x.dtype.scalar}: it takes {takes[0]}")
        return tl.tensor(_Handle(function(x.handle.data), gives), x.type.with_element_ty(gives))

    return device_function


def _absent(name: str) -> Callable[..., Any]:
    def device_function(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"libdevice.{name} not supported in interpreter mode")

    return device_function
