"""Numbers as a GPU has them, in NumPy's arrays.

Floats narrower than 32 bits are carried in fp32, which holds each of them exactly, and rounded after every
operation; integers have their own width; pointers and indices are int64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any  # numpy's generic array types say nothing useful about bit patterns

CARRIERS: dict[str, Any] = {
    **{"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "index": np.int64},
    **{name: np.float32 for name in ("f32", "f16", "bf16", "f8E4M3FN", "f8E5M2")},
    "f64": np.float64,
}
SIZES = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "index": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8}
SIZES |= {"f8E4M3FN": 1, "f8E5M2": 1}
UNSIGNED = {np.dtype(f"i{size}"): np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
UNSIGNED |= {np.dtype(bool): np.dtype(np.uint8)}
NARROW = ("f16", "bf16", "f8E4M3FN", "f8E5M2")
RAW = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}

_codes = np.arange(128)
_E4M3 = np.where(_codes < 8, _codes * 2.0**-9, (8 + _codes % 8) * 2.0 ** (_codes // 8 - 10)).astype(
    np.float32
)
_E4M3[0x7F] = np.nan
_FP8 = {"f8E4M3FN": _E4M3, "f8E5M2": (_codes.astype(np.uint16) << 8).view(np.float16).astype(np.float32)}


def carrier(element: str) -> Any:
    """NumPy's dtype that holds an element: of a pointer the address."""
    return np.int64 if element.startswith("*") else CARRIERS[element]


def size(element: str) -> int:
    """Bytes of an element in memory."""
    return 8 if element.startswith("*") else SIZES[element]


def rounded(values: Array, element: str) -> Array:
    """Values as an element of this type holds them, in its carrier."""
    if element == "f16":
        return values.astype(np.float16).astype(np.float32)
    if element == "bf16":
        return (_bf16(values).astype(np.uint32) << 16).view(np.float32)
    if element in _FP8:
        return _wide8(_narrow8(values, element), element)
    return values.astype(carrier(element), copy=False)


def toward_zero(values: Array, element: str) -> Array:
    """The same, cut off instead of rounded to nearest."""
    near = rounded(values, element)
    code = written(near, element)
    below = read(code - (np.abs(near) > np.abs(values)).astype(code.dtype), element)
    return np.where(np.isfinite(values), below, near)


def whole(values: Array, kind: Any, to: Callable[[Array], Array] = np.trunc) -> Array:
    """As PTX converts to integers: what is beyond them becomes the last of them, and NaN 0."""
    least, most = np.iinfo(kind).min, np.iinfo(kind).max
    wide = to(np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf))
    fits = (wide >= float(least)) & (wide < float(most) + 1)
    last = np.where(wide < 0, least, most).astype(kind)
    return np.where(fits, np.where(fits, wide, 0.0).astype(kind), last)


def read(raw: Array, element: str) -> Array:
    """Bits in memory → values."""
    if element == "f16":
        return raw.view(np.float16).astype(np.float32)
    if element == "bf16":
        return (raw.astype(np.uint32) << 16).view(np.float32)
    if element in _FP8:
        return _wide8(raw, element)
    if element == "i1":
        return raw != 0
    return raw.view(carrier(element))


def written(values: Array, element: str) -> Array:
    """Values → bits in memory."""
    if element == "f16":
        return values.astype(np.float16).view(np.uint16)
    if element == "bf16":
        return _bf16(values)
    if element in _FP8:
        # Inf was one in memory: a cast makes the largest number of it. Their codes are neighbours.
        return _narrow8(values, element) + np.isinf(values).astype(np.uint8)
    plain = np.ascontiguousarray(values).astype(carrier(element), copy=False)
    return plain.view(RAW[size(element)])


def bits(values: Array, source: str, target: str) -> Array:
    """The bits of values of one type read as another of the same width."""
    if source.startswith("*") or target.startswith("*") or source == target:
        return values
    return read(np.ascontiguousarray(written(values, source)), target)


def tf32(values: Array) -> Array:
    """fp32 with 10 bits of fraction, rounded to nearest even; matrix units may also cut them off."""
    word = np.ascontiguousarray(values).view(np.uint32)
    near = (word + 0xFFF + ((word >> 13) & 1)) & np.uint32(0xFFFFE000)
    return np.where(np.isfinite(values), near.view(np.float32), values)


def literal(text: str, element: str) -> Array:
    """A constant as the text of TTIR spells it, in one array of one element."""
    kind = carrier(element)
    if text in ("true", "false"):
        return np.array([text == "true"])
    if element[0] in "fb":
        if text.startswith("0x"):
            return read(np.array([int(text, 16)], RAW[size(element)]), element)
        return rounded(np.array([float(text)]), element)
    if element == "i1":
        return np.array([int(text) != 0])
    return np.array([int(text) % 2 ** (8 * size(element))], np.uint64).astype(kind)


def _bf16(values: Array) -> Array:
    """fp32 → the bits of bf16, to nearest even; NaN stays one."""
    word = np.ascontiguousarray(values, np.float32).view(np.uint32)
    near = ((word + 0x7FFF + ((word >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), near)


def _wide8(codes: Array, element: str) -> Array:
    values = _FP8[element]
    return np.concatenate([values, -values])[codes]


def _narrow8(values: Array, element: str) -> Array:
    """fp32 → codes, to nearest even; what is too large becomes the largest (PTX: cvt.rn.satfinite)."""
    finite = _FP8[element][np.isfinite(_FP8[element])]
    halfway, sizes = (finite[1:] + finite[:-1]) / 2, np.abs(values)
    low, high = np.searchsorted(halfway, sizes, "left"), np.searchsorted(halfway, sizes, "right")
    codes = np.where(low % 2, high, low) | np.where(np.signbit(values), 0x80, 0)
    return np.where(np.isnan(values), 0x7F, codes).astype(np.uint8)
