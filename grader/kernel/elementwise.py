"""What an operation of TTIR computes of lanes side by side."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import torch

from grader.kernel import number_formats
from grader.kernel.libdevice import CONVERSIONS, FUNCTIONS, by_torch
from grader.kernel.number_formats import NARROW, UNSIGNED, Array
from grader.kernel.ttir import Operation, Uncompilable, Unevaluated

Compute = Callable[..., Array]


def unsigned(function: Compute) -> Compute:
    """Of integers taken as unsigned."""

    def compute(a: Array, b: Array) -> Array:
        kind = UNSIGNED[a.dtype]
        return function(a.view(kind), b.view(kind)).view(a.dtype)

    return compute


def _divided(a: Array, b: Array) -> Array:
    """Toward zero, as C divides."""
    safe = np.where(b == 0, b.dtype.type(1), b)
    whole = a // safe
    return np.where(b == 0, b.dtype.type(-1), whole + ((whole < 0) & (whole * safe != a)).astype(a.dtype))


def _remainder(a: Array, b: Array) -> Array:
    return np.fmod(a, np.where(b == 0, b.dtype.type(1), b))


def _unsigned_quotient(function: Compute) -> Compute:
    return unsigned(lambda a, b: function(a, np.where(b == 0, b.dtype.type(1), b)))


def _high(a: Array, b: Array) -> Array:
    """The upper half of the product of unsigned integers."""
    if a.dtype == np.int32:
        wide = a.view(np.uint32).astype(np.uint64) * b.view(np.uint32)
        return (wide >> np.uint64(32)).astype(np.uint32).view(np.int32)
    x, y, half, mask = a.view(np.uint64), b.view(np.uint64), np.uint64(32), np.uint64(0xFFFFFFFF)
    middle = (x >> half) * (y & mask) + ((x & mask) * (y & mask) >> half)
    other = (x & mask) * (y >> half) + (middle & mask)
    return ((x >> half) * (y >> half) + (middle >> half) + (other >> half)).view(np.int64)


def _shifted(function: Compute) -> Compute:
    """By as many bits as there are, or more, nothing is left: PTX clamps what C leaves open."""

    def compute(a: Array, b: Array) -> Array:
        width = 8 * a.dtype.itemsize
        return np.where((b < 0) | (b >= width), a.dtype.type(0), function(a, np.clip(b, 0, width - 1)))

    return compute


def _fused(a: Array, b: Array, c: Array) -> Array:
    return (a.astype(np.float64) * b + c).astype(a.dtype)


PLAIN: dict[str, Compute] = {
    **{"arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply},
    **{"arith.divsi": _divided, "arith.remsi": _remainder, "tt.mulhiui": _high},
    **{"arith.divui": _unsigned_quotient(np.floor_divide), "arith.remui": _unsigned_quotient(np.remainder)},
    **{"arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or, "arith.xori": np.bitwise_xor},
    **{"arith.shli": _shifted(np.left_shift), "arith.shrui": unsigned(_shifted(np.right_shift))},
    "arith.shrsi": lambda a, b: a >> np.clip(b, 0, 8 * a.dtype.itemsize - 1),
    **{"arith.maxsi": np.maximum, "arith.minsi": np.minimum},
    **{"arith.maxui": unsigned(np.maximum), "arith.minui": unsigned(np.minimum)},
    **{"arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide},
    **{"arith.remf": np.fmod, "arith.negf": np.negative, "tt.precise_divf": np.divide},
    **{"arith.maxnumf": np.fmax, "arith.minnumf": np.fmin},
    **{"arith.maximumf": np.maximum, "arith.minimumf": np.minimum},
    **{"math.exp": np.exp, "math.exp2": np.exp2, "math.expm1": np.expm1, "math.log": np.log},
    **{"math.log2": np.log2, "math.log10": np.log10, "math.log1p": np.log1p},
    **{"math.sin": np.sin, "math.cos": np.cos, "math.tan": np.tan},
    **{"math.sqrt": np.sqrt, "tt.precise_sqrt": np.sqrt, "math.absf": np.abs, "math.absi": np.abs},
    **{"math.floor": np.floor, "math.ceil": np.ceil, "math.trunc": np.trunc, "math.roundeven": np.rint},
    **{"math.erf": by_torch(torch.erf), "math.tanh": np.tanh, "math.fma": _fused, "math.powf": np.power},
    "math.rsqrt": lambda x: (1 / np.sqrt(x.astype(np.float64))).astype(x.dtype),
    "math.copysign": np.copysign,
}
COMPARISONS: dict[str, Compute] = {
    **{"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal},
    **{"gt": np.greater, "ge": np.greater_equal},
}


# Of which no fp8 is made: Triton's way to LLVM ends there without a word.
ARITHMETIC = re.compile(r"arith\.(add|sub|mul|div|rem|cmp|neg)f|math\.fma")
FP8 = {"f8E4M3FN": "fp8e4nv", "f8E5M2": "fp8e5"}


def compute(operation: Operation) -> Compute | None:
    """What an operation computes of its operands; None of one that is not elementwise.

    Raises:
        Uncompilable: it is arithmetic in fp8.
    """
    name = operation.name
    element = operation.gives[-1].element if operation.gives else ""
    narrow = next((FP8[one.element] for one in operation.takes if one.element in FP8), "")
    if narrow and ARITHMETIC.fullmatch(name):
        raise Uncompilable(f"there is no arithmetic in {narrow}: convert to fp32 first, .to(tl.float32)")
    if name in PLAIN:
        function = PLAIN[name]
        if element not in NARROW:
            return function
        return lambda *given: number_formats.rounded(function(*given), element)
    if name in ("arith.cmpi", "arith.cmpf"):
        return _comparison(operation.text.split(" ")[1].rstrip(","), operation.takes[0].element)
    if name == "tt.clampf":
        return _clamp("propagateNan = all" in operation.text)
    if name == "tt.extern_elementwise":
        return _external(operation.words, [one.element for one in operation.takes], element)
    source = operation.takes[0].element if operation.takes else ""
    return _conversion(name, source, element, "rounding = rtz" in operation.text)


def _comparison(predicate: str, element: str) -> Compute:
    kind, which = predicate[0], predicate[1:]
    if predicate in ("eq", "ne"):
        return COMPARISONS[predicate]
    if predicate in ("ord", "uno"):
        return lambda a, b: (np.isnan(a) | np.isnan(b)) == (predicate == "uno")
    function = COMPARISONS[which]
    if element[0] not in "fb":
        if element == "i1":  # true is -1 where it has a sign
            return function if kind == "u" else lambda a, b: function(b, a)
        return (
            function if kind == "s" else lambda a, b: function(*(x.view(UNSIGNED[x.dtype]) for x in (a, b)))
        )
    if predicate == "one":
        return lambda a, b: (a < b) | (a > b)
    if kind == "u" and which != "ne":
        return lambda a, b: function(a, b) | np.isnan(a) | np.isnan(b)
    return function


def _clamp(propagate: bool) -> Compute:
    if propagate:
        return lambda x, low, high: np.minimum(np.maximum(x, low), high)
    return lambda x, low, high: np.fmin(np.fmax(x, low), high)


def _conversion(name: str, source: str, element: str, cut: bool) -> Compute | None:
    if name in ("arith.extf", "arith.truncf", "tt.fp_to_fp"):
        return lambda x: number_formats.toward_zero(x, element) if cut else number_formats.rounded(x, element)
    if name in ("arith.bitcast", "tt.bitcast", "tt.ptr_to_int", "tt.int_to_ptr"):
        return lambda x: number_formats.bits(x, source, element)
    if name in ("arith.extsi", "arith.trunci", "arith.index_cast"):
        if element == "i1":
            return lambda x: (x & 1) != 0
        kind = number_formats.carrier(element)
        return (lambda x: -x.astype(kind)) if source == "i1" else (lambda x: x.astype(kind))
    if name in ("arith.extui", "arith.uitofp", "arith.sitofp"):
        kind = number_formats.carrier(element)

        def widened(x: Array) -> Array:
            plain = x.view(UNSIGNED[x.dtype]) if name != "arith.sitofp" and x.dtype != bool else x
            return number_formats.rounded(plain.astype(kind), element)

        return widened
    if name in ("arith.fptosi", "arith.fptoui"):
        kind = np.dtype(number_formats.carrier(element))
        return lambda x: number_formats.whole(x, kind if name.endswith("si") else UNSIGNED[kind]).view(kind)
    return None


ALIKE = {"fabs": "abs", "llabs": "abs", "isinfd": "isinf", "isinff": "isinf"}
ALIKE |= {"isnand": "isnan", "isnanf": "isnan"}


def libdevice(words: list[str]) -> str:
    """What a function of libdevice's is called here, by the name of its symbol, `__nv_expf`."""
    symbol = next((word for word in words if word.startswith("__nv_")), "".join(words))
    name = symbol.removeprefix("__nv_")
    named = [name, *(name.removesuffix(kind) for kind in "fd"), *(name.removeprefix(kind) for kind in "fd")]
    named += [ALIKE[each] for each in named if each in ALIKE]
    return next((one for one in named if one in CONVERSIONS or one in FUNCTIONS), name)


def _external(words: list[str], takes: list[str], element: str) -> Compute:
    """libdevice, computed in fp64 and rounded once; its own is 1–2 ulp off.

    Raises:
        Unevaluated: nobody has written it yet.
    """
    name = libdevice(words)
    if name in CONVERSIONS:
        return CONVERSIONS[name]
    if name in FUNCTIONS:
        function, whole = FUNCTIONS[name], number_formats.carrier(element)
        if takes and takes[0][0] == "i":
            return lambda *given: function(*given).astype(whole)
        return lambda *given: function(*(each.astype(np.float64) for each in given)).astype(whole)
    if re.match(r"[su]?\w*hi$", name) and "mul" in name:
        return _high
    raise Unevaluated(f"libdevice's {name} is not evaluated")
