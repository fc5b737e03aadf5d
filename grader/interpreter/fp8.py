"""8-bit floats in Triton's CPU interpreter: e4m3 (tl.float8e4nv) and e5m2 (tl.float8e5), held as uint8 codes.

The stock interpreter loses the carry of a rounded fraction (31.6 becomes 16), makes NaN or small numbers of
what lies past the largest, and reads e4m3's NaN as 480. A GPU rounds to nearest even, and cuts what is too
large to the largest number, Inf too (PTX: cvt.rn.satfinite). With 8-bit floats it computes nothing but
tl.dot, which is in `dots.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl
from triton.language.semantic import TritonSemantic
from triton.runtime import interpreter

from grader.interpreter import bf16
from grader.interpreter.meanings import Uncompilable

Array = Any  # numpy's generic array types say nothing useful about bit patterns
_Handle: Any = interpreter.TensorHandle
_CODES = np.arange(128)  # of numbers that are not negative; in their order
E4M3 = np.where(_CODES < 8, _CODES * 2.0**-9, (8 + _CODES % 8) * 2.0 ** (_CODES // 8 - 10)).astype(np.float32)
E4M3[0x7F] = np.nan
E5M2 = (_CODES.astype(np.uint16) << 8).view(np.float16).astype(np.float32)
VALUES = {tl.float8e4nv: E4M3, tl.float8e5: E5M2}


def repair(builder: Any) -> None:
    """Repair casts and what has one operand, refuse arithmetic; `builder` is a class. Bf16's comes first."""
    _repair_casts(builder)
    _spell_refusals()
    _repair_arithmetic(builder)
    _repair_sums()


def is_fp8(handle: Any) -> bool:
    """Whether a block's elements are e4m3 or e5m2."""
    return handle.dtype.scalar.name in ("fp8e4nv", "fp8e5")


def widen(handle: Any) -> Array:
    """A block's codes (uint8) → fp32 values; exact."""
    values = VALUES[handle.dtype.scalar]
    return np.concatenate([values, -values])[handle.data]


def narrow(values: Array, dtype: Any) -> Array:
    """Numbers → codes (uint8) of this dtype, rounded to nearest even; every NaN becomes 0x7f."""
    finite = VALUES[dtype][np.isfinite(VALUES[dtype])]
    halfway, sizes = (finite[1:] + finite[:-1]) / 2, np.abs(values)
    # Only on a tie do these two differ, and then one of them is even.
    low, high = np.searchsorted(halfway, sizes, "left"), np.searchsorted(halfway, sizes, "right")
    codes = np.where(low % 2, high, low) | np.where(np.signbit(values), 0x80, 0)
    return np.where(np.isnan(values), 0x7F, codes).astype(np.uint8)


def _repair_casts(builder: Any) -> None:
    stock = builder.create_fp_to_fp

    def create_fp_to_fp(self: Any, src: Any, dst_type: Any, rounding_mode: Any) -> Any:
        dtype = dst_type.scalar
        if not is_fp8(src) and dtype not in VALUES:
            return stock(self, src, dst_type, rounding_mode)
        if is_fp8(src) and dtype in VALUES:
            raise Uncompilable(f"cannot cast {src.dtype.scalar} to {dtype}: go by way of tl.float32")
        if is_fp8(src):
            return self.cast_impl(_Handle(widen(src), tl.float32), dst_type)
        values = bf16.widen(src.data) if bf16.is_bf16(src) else src.data
        return _Handle(narrow(values, dtype), dtype)

    builder.create_fp_to_fp = create_fp_to_fp


def _spell_refusals() -> None:
    """No cast leads from 8-bit floats to integers; said by dtypes, where the stock one prints values."""
    semantic: Any = TritonSemantic
    stock = semantic.cast

    def cast(self: Any, input: Any, dst_ty: Any, *rest: Any, **options: Any) -> Any:
        try:
            return stock(self, input, dst_ty, *rest, **options)
        except AssertionError as error:
            if "cannot cast" not in str(error):
                raise
            way = ": go by way of tl.float32" if is_fp8(input) or dst_ty.scalar in VALUES else ""
            raise Uncompilable(f"cannot cast {input.dtype} to {dst_ty.scalar}{way}") from None

    semantic.cast = cast


def _repair_arithmetic(builder: Any) -> None:
    """The compiler has no word for x + y or x < y of them, and none but tl.abs of one."""

    def refusing(stock: Callable[..., Any]) -> Callable[..., Any]:
        def operation(self: Any, first: Any, *rest: Any) -> Any:
            if is_fp8(first):
                raise _no_arithmetic(first)
            return stock(self, first, *rest)

        return operation

    stock_unary = builder.unary_op

    def unary_op(self: Any, arg: Any, op: Callable[..., Array]) -> Any:
        if not is_fp8(arg):
            return stock_unary(self, arg, op)
        return _Handle(narrow(op(widen(arg)), arg.dtype.scalar), arg.dtype.scalar)

    builder.unary_op = unary_op
    builder.binary_op = refusing(builder.binary_op)
    builder.create_fma = refusing(builder.create_fma)
    builder.create_clampf = refusing(builder.create_clampf)


def _repair_sums() -> None:
    """Nor has it one for tl.sum and tl.cumsum of them, which never come to the builder."""
    stocks: list[tuple[Any, str]] = [
        (interpreter.ReduceOps, "sum"),
        *((interpreter.ScanOps, name) for name in ("cumsum", "cumprod")),
    ]

    def refusing(stock: Callable[..., Any]) -> Callable[..., Any]:
        def run(self: Any, block: Any) -> Any:
            if is_fp8(block):
                raise _no_arithmetic(block)
            return stock(self, block)

        return run

    for kind, name in stocks:
        setattr(kind, name, refusing(getattr(kind, name)))


def _no_arithmetic(block: Any) -> Uncompilable:
    dtype = block.dtype.scalar
    return Uncompilable(f"there is no arithmetic in {dtype}: convert to fp32 first, .to(tl.float32)")
