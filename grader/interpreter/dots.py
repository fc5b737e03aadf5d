"""tl.dot as the matrix units of a GPU do it; the interpreter takes any size, and adds everything up in fp32.

fp32 operands are cut to TF32 unless "ieee" or "tf32x3" is asked for, an fp16 accumulator is rounded at every
step of 16 products, one of fp8 products keeps 14 bits in a block of 64 rows or more unless it is promoted,
and blocks narrower than a step are refused, as is an accumulator of int8 products that is not int32.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDAOptions, min_dot_size
from triton.runtime import interpreter

from grader.interpreter import fp8
from grader.interpreter.bf16 import is_bf16, narrow, widen
from grader.interpreter.meanings import Uncompilable

Array = Any  # numpy's generic array types say nothing useful about bit patterns
_Handle: Any = interpreter.TensorHandle
STEP = 16  # products of 16-bit numbers that one matrix instruction adds up
STEP8 = 32  # of 8-bit ones
# The fp8 units of sm_90 keep so many bits of what they add up: DeepSeek-V3 (arXiv 2412.19437, 3.3.2).
KEPT8 = 14
# Rows of a block that go to them. Triton 3.6 makes fp16 of a smaller one, whose sums in fp32 were exact.
ROWS8 = 64
EXACT8 = 2**24 // 128**2  # products of int8 that fp32 adds up exactly
UNBOUNDED = 2**30  # products before a promotion, as the compiler's default for sm_90 has it
# What the compiler takes.
ASKED = min_dot_size(GPUTarget("cuda", 90, 32))  # 16 of K; from Triton 3.9 on 8 of fp32
PRECISIONS = CUDAOptions.__dataclass_fields__["allowed_dot_input_precisions"].default


def repair(builder: Any) -> None:
    """Repair tl.dot; `builder` is the interpreter's."""
    options = builder.options
    builder.options = replace(
        options, allowed_dot_input_precisions=PRECISIONS, max_num_imprecise_acc_default=UNBOUNDED
    )
    builder.codegen_fns["min_dot_size"] = _least
    kind = type(builder)
    stock = kind.create_dot

    def create_dot(self: Any, a: Any, b: Any, d: Any, precision: Any, most: int) -> Any:
        operands = _operands(a, b, d, precision)
        if operands is None:
            return stock(self, a, b, d, precision, most)
        if d.data.dtype == np.int32:
            return _Handle(np.matmul(*operands).astype(np.int32) + d.data, tl.int32)
        if fp8.is_fp8(a) and d.data.dtype == np.float32 and most and a.data.shape[-2] >= ROWS8:
            return _Handle(_in_14_bits(*operands, d.data, most), tl.float32)
        if is_bf16(d):
            return _Handle(narrow(np.matmul(*operands) + widen(d.data)), tl.bfloat16)
        if d.data.dtype == np.float16:
            return _Handle(_in_fp16(*operands, d.data), tl.float16)
        return _Handle((np.matmul(*operands) + d.data).astype(d.data.dtype), d.dtype.scalar)

    kind.create_dot = create_dot


def _operands(a: Any, b: Any, d: Any, precision: Any) -> tuple[Array, Array] | None:
    """The operands in fp32, as exact as the matrix units take them; None where the interpreter is right.

    fp16 ones become fp32 for speed, and int8 ones too, or fp64 where their sums would not be exact.

    Raises:
        Uncompilable: int8 products would be added up in fp32.
    """
    if fp8.is_fp8(a):
        return fp8.widen(a), fp8.widen(b)
    if a.data.dtype == np.int8:
        if d.data.dtype != np.int32:
            raise Uncompilable("tl.dot adds int8 products up in int32: acc and out_dtype must be tl.int32")
        wide = np.float32 if a.data.shape[-1] <= EXACT8 else np.float64
        return a.data.astype(wide), b.data.astype(wide)
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


def _in_14_bits(a: Array, b: Array, total: Array, most: int) -> Array:
    """Sums of fp8 products, cut off at each step; `most` of them at a time are added to an fp32 total.

    Where a block has fewer than `most`, there is no other total than the one that is cut.
    """
    promoted = most <= a.shape[-1]
    partial = np.zeros_like(total) if promoted else total
    for start in range(0, a.shape[-1], STEP8):
        some = slice(start, start + STEP8)
        partial = _step(a[..., some], b[..., some, :], partial)
        if promoted and ((start + STEP8) % most == 0 or start + STEP8 >= a.shape[-1]):
            total, partial = total + partial, np.zeros_like(total)
    return total if promoted else partial


def _step(a: Array, b: Array, total: Array) -> Array:
    """Products and total are aligned with the largest of them, and what lies below 14 bits of that is cut
    off, of each by itself and then of their sum: bit for bit what an H100 gave for blocks of 64 and 128 rows,
    in sums of 1024 and of 8192 products.
    """
    products = a[..., :, None, :] * np.swapaxes(b, -1, -2)[..., None, :, :]
    shift = _shift(np.maximum(np.abs(products).max(-1), np.abs(total)))
    summed = np.trunc(products * shift[..., None]).sum(-1) + np.trunc(total * shift)
    cut = _shift(summed)
    return (np.trunc(summed * cut) / cut / shift).astype(np.float32)


def _shift(largest: Array) -> Array:
    """The power of two that leaves 14 bits of each number before the point."""
    return np.ldexp(np.float32(1), KEPT8 - np.frexp(np.abs(largest))[1])


def _least(lhs: Any, rhs: Any) -> tuple[int, int, int]:
    """The least M, N and K, as the compiler asks for them.

    Raises:
        Uncompilable: K is less.
    """
    k, (m, n, least) = int(lhs.shape[-1]), ASKED(lhs, rhs)
    if k < least:
        raise Uncompilable(f"tl.dot needs K >= {least}, and K is {k} here: pad its blocks")
    return m, n, least
