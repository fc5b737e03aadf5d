"""tl.dot as the matrix units of a GPU do it; the interpreter takes any size, and adds everything up in fp32.

fp32 operands are cut to TF32 unless "ieee" or "tf32x3" is asked for, an fp16 accumulator is rounded at every
step of 16 products, and blocks narrower than that are refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDAOptions, min_dot_size
from triton.runtime import interpreter

from grader.interpreter.bf16 import is_bf16, narrow, widen
from grader.interpreter.meanings import Uncompilable

Array = Any  # numpy's generic array types say nothing useful about bit patterns
_Handle: Any = interpreter.TensorHandle
STEP = 16  # products of 16-bit numbers that one matrix instruction adds up
# What the compiler takes.
ASKED = min_dot_size(GPUTarget("cuda", 90, 32))  # 16 of K; from Triton 3.9 on 8 of fp32
PRECISIONS = CUDAOptions.__dataclass_fields__["allowed_dot_input_precisions"].default


def repair(builder: Any) -> None:
    """Repair tl.dot; `builder` is the interpreter's."""
    options = builder.options
    builder.options = replace(options, allowed_dot_input_precisions=PRECISIONS)
    builder.codegen_fns["min_dot_size"] = _least
    kind = type(builder)
    stock = kind.create_dot

    def create_dot(self: Any, a: Any, b: Any, d: Any, precision: Any, *rest: Any, **options: Any) -> Any:
        operands = _operands(a, b, d, precision)
        if operands is None:
            return stock(self, a, b, d, precision, *rest, **options)
        if is_bf16(d):
            return _Handle(narrow(np.matmul(*operands) + widen(d.data)), tl.bfloat16)
        if d.data.dtype == np.float16:
            return _Handle(_in_fp16(*operands, d.data), tl.float16)
        return _Handle((np.matmul(*operands) + d.data).astype(d.data.dtype), d.dtype.scalar)

    kind.create_dot = create_dot


def _operands(a: Any, b: Any, d: Any, precision: Any) -> tuple[Array, Array] | None:
    """The operands in fp32, as exact as the matrix units take them; None where the interpreter is right.

    fp16 ones become fp32 for speed.
    """
    if is_bf16(a):
        return widen(a.data), widen(b.data)
    kinds = {a.data.dtype, b.data.dtype}
    if kinds == {np.dtype(np.float16)} and d.data.dtype in (np.float16, np.float32):
        return a.data.astype(np.float32), b.data.astype(np.float32)
    if kinds == {np.dtype(np.float32)} and getattr(precision, "name", "") == "TF32":
        return tf32(a.data), tf32(b.data)
    return None


def tf32(values: Array) -> Array:
    """fp32 values with 10 bits of fraction, rounded to nearest even; matrix units may also cut them off."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    rounded = (bits + 0xFFF + ((bits >> 13) & 1)) & np.uint32(0xFFFFE000)
    return np.where(np.isfinite(values), rounded.view(np.float32), values)


def _in_fp16(a: Array, b: Array, total: Array) -> Array:
    for start in range(0, a.shape[-1], STEP):
        some = slice(start, start + STEP)
        total = (np.matmul(a[..., some], b[..., some, :]) + total).astype(np.float16)
    return total


def _least(lhs: Any, rhs: Any) -> tuple[int, int, int]:
    """The least M, N and K, as the compiler asks for them.

    Raises:
        Uncompilable: K is less.
    """
    k, (m, n, least) = int(lhs.shape[-1]), ASKED(lhs, rhs)
    if k < least:
        raise Uncompilable(f"tl.dot needs K >= {least}, and K is {k} here: pad its blocks")
    return m, n, least
