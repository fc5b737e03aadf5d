"""The libdevice functions that the interpreter cannot call, as numpy functions of float64 arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])

# fmt: off
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs, "fabs": np.abs, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint,
    "nearbyint": np.rint, "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "exp": np.exp, "exp2": np.exp2, "exp10": lambda x: np.power(10.0, x), "expm1": np.expm1,
    "fast_expf": np.exp,
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "fast_logf": np.log,
    "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": np.cbrt, "pow": np.power, "hypot": np.hypot,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "fast_tanhf": np.tanh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "erf": _erf, "erfc": _erfc,
    "fma": lambda x, y, z: x * y + z, "fdim": lambda x, y: np.maximum(x - y, 0), "fmod": np.fmod,
    "copysign": np.copysign, "isnan": np.isnan, "isinf": np.isinf, "finitef": np.isfinite,
    "fast_dividef": np.divide, "div_rn": np.divide,
}
# fmt: on
