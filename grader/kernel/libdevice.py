"""The functions of libdevice, as numpy functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import _disable_current_modes

from grader.kernel.number_formats import Array, whole


def by_torch(function: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Array], Array]:
    """A function that NumPy lacks."""

    def compute(x: Array) -> Array:
        with _disable_current_modes():  # it is no work of the launcher's
            return function(torch.from_numpy(np.ascontiguousarray(x))).numpy()

    return compute


_erfc = by_torch(torch.erfc)
_remainder = np.vectorize(lambda x, y: math.remainder(x, y) if y and math.isfinite(x) else math.nan)

# Of float64 arrays, computed in fp64 and rounded to the dtype of the first argument.
# fmt: off
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint,
    "nearbyint": np.rint, "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "exp": np.exp, "exp2": np.exp2, "exp10": lambda x: np.power(10.0, x), "expm1": np.expm1,
    "fast_expf": np.exp, "fast_exp10f": lambda x: np.power(10.0, x),
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p,
    "fast_logf": np.log, "fast_log2f": np.log2, "fast_log10f": np.log10,
    "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": np.cbrt, "rcbrt": lambda x: 1 / np.cbrt(x),
    "pow": np.power, "fast_powf": np.power, "hypot": np.hypot, "rhypot": lambda x, y: 1 / np.hypot(x, y),
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "fast_sinf": np.sin, "fast_cosf": np.cos, "fast_tanf": np.tan,
    "sinpi": lambda x: np.sin(np.pi * np.fmod(x, 2)), "cospi": lambda x: np.cos(np.pi * np.fmod(x, 2)),
    "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "fast_tanhf": np.tanh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "erf": by_torch(torch.erf), "erfc": _erfc,
    "normcdf": lambda x: 0.5 * _erfc(-x * math.sqrt(0.5)), "normcdfinv": by_torch(torch.special.ndtri),
    "erfinv": by_torch(torch.erfinv),
    "fma": lambda x, y, z: x * y + z, "fdim": lambda x, y: np.maximum(x - y, 0), "fmod": np.fmod,
    "remainder": _remainder, "saturatef": lambda x: np.clip(np.nan_to_num(x), 0, 1),
    "copysign": np.copysign, "isnan": np.isnan, "isinf": np.isinf, "finitef": np.isfinite,
    "isfinited": np.isfinite, "rcp_rn": lambda x: 1 / x,
    "fast_dividef": np.divide, "fast_fdividef": np.divide,  # its name, and its symbol's
    "add_rn": np.add, "sub_rn": np.subtract, "mul_rn": np.multiply, "div_rn": np.divide,
    "fma_rn": lambda x, y, z: x * y + z, "sqrt_rn": np.sqrt, "rsqrt_rn": lambda x: 1 / np.sqrt(x),
}
# fmt: on


def _to_integer(to: Callable[[Array], Array], dtype: type) -> Callable[[Array], Array]:
    signed = np.int32 if dtype is np.uint32 else dtype  # what libdevice says that it gives
    return lambda x: whole(x, dtype, to).view(signed)


def _bits(x: Array) -> Array:
    """Each bit of each element, the lowest first, along one more axis."""
    wide = x.astype(np.int64)[..., None] >> np.arange(x.dtype.itemsize * 8)
    return wide & 1


def _leading_zeros(x: Array) -> Array:
    """How many bits above the highest 1 are 0."""
    ones = np.flip(_bits(x), -1)
    return np.where(ones.any(-1), ones.argmax(-1), ones.shape[-1]).astype(np.int32)


_ROUNDED = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}

# Of arrays as they are.
CONVERSIONS: dict[str, Callable[[Array], Array]] = {
    **{f"float2int_{way}": _to_integer(to, np.int32) for way, to in _ROUNDED.items()},
    **{f"float2uint_{way}": _to_integer(to, np.uint32) for way, to in _ROUNDED.items()},
    **{f"float2ll_{way}": _to_integer(to, np.int64) for way, to in _ROUNDED.items()},
    "llrint": _to_integer(np.rint, np.int64),
    "int2float_rn": lambda x: x.astype(np.float32),
    "ll2float_rn": lambda x: x.astype(np.float32),
    "float_as_int": lambda x: x.view(np.int32),
    "float_as_uint": lambda x: x.view(np.int32),
    "signbit": lambda x: np.signbit(x).astype(np.int32),
    "int_as_float": lambda x: x.view(np.float32),
    "uint_as_float": lambda x: x.view(np.float32),
    "popc": lambda x: _bits(x).sum(-1, dtype=np.int32),
    "clz": _leading_zeros,
    "ffs": lambda x: np.where(x == 0, 0, _bits(x).argmax(-1) + 1).astype(np.int32),
}
