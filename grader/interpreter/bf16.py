"""bf16 in Triton's CPU interpreter, which works on the uint16 bit patterns as if they were numbers.

Everything is computed on widened values and rounded to nearest even, as a GPU does it; tl.dot in `dots.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl
from triton._C.libtriton import interpreter as memory
from triton.runtime import interpreter

Array = Any  # numpy's generic array types say nothing useful about bit patterns
_Handle: Any = interpreter.TensorHandle


def repair(builder: Any) -> None:
    """Repair arithmetic, constants, casts, sums and atomic additions; `builder` is a class."""
    _repair_arithmetic(builder)
    _repair_constants(builder)
    _repair_casts(builder)
    _repair_sums()
    _repair_atomics(memory)


def widen(bits: Array) -> Array:
    """bf16 bit patterns (uint16) → fp32 values; exact."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def narrow(values: Array) -> Array:
    """fp32 values → bf16 bit patterns (uint16), rounded to nearest even; every NaN becomes the quiet one."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


def is_bf16(handle: Any) -> bool:
    """Whether a block's elements are bf16."""
    return bool(handle.dtype.scalar.name == "bf16")


def _repair_arithmetic(builder: Any) -> None:
    stock_binary, stock_fma, stock_unary = builder.binary_op, builder.create_fma, builder.unary_op

    def binary_op(self: Any, lhs: Any, rhs: Any, op: Callable[..., Array]) -> Any:
        if not is_bf16(lhs):
            return stock_binary(self, lhs, rhs, op)
        result = op(widen(lhs.data), widen(rhs.data))
        if result.dtype.kind == "f":
            return _Handle(narrow(result), tl.bfloat16)
        return _Handle(result, tl.int1)  # a comparison

    def create_fma(self: Any, x: Any, y: Any, z: Any) -> Any:
        if not is_bf16(z):
            return stock_fma(self, x, y, z)
        return _Handle(narrow(widen(x.data) * widen(y.data) + widen(z.data)), tl.bfloat16)

    def unary_op(self: Any, arg: Any, op: Callable[..., Array]) -> Any:
        if not is_bf16(arg):
            return stock_unary(self, arg, op)
        return _Handle(narrow(op(widen(arg.data))), tl.bfloat16)

    builder.binary_op, builder.create_fma, builder.unary_op = binary_op, create_fma, unary_op


def _repair_constants(builder: Any) -> None:
    """`x * 2.0` and tl.full(…, tl.bfloat16) ask for a constant that the stock interpreter cannot make."""

    def get_bf16(self: Any, value: float) -> Any:
        return _Handle(narrow(np.array([value], np.float32)), tl.bfloat16)

    builder.get_bf16 = get_bf16


def _repair_casts(builder: Any) -> None:
    stock_cast, stock_fp_to_fp = builder.cast_impl, builder.create_fp_to_fp

    def cast_impl(self: Any, src: Any, dst_type: Any) -> Any:
        if is_bf16(src):
            src = _Handle(widen(src.data), tl.float32)
        if dst_type.scalar == tl.bfloat16:
            return _Handle(narrow(src.data.astype(np.float32)), tl.bfloat16)
        return stock_cast(self, src, dst_type)

    def create_fp_to_fp(self: Any, src: Any, dst_type: Any, rounding_mode: Any) -> Any:
        if src.dtype.scalar == tl.float32 and dst_type.scalar == tl.bfloat16:
            return _Handle(narrow(src.data), tl.bfloat16)
        return stock_fp_to_fp(self, src, dst_type, rounding_mode)

    builder.cast_impl, builder.create_fp_to_fp = cast_impl, create_fp_to_fp


def _repair_sums() -> None:
    """Sums are rounded at every addition, pair by pair, as threads do it; scans once, at the end."""
    reduce_ops: Any = interpreter.ReduceOps
    scan_ops: Any = interpreter.ScanOps
    stock_sum = reduce_ops.sum
    scans: dict[str, Any] = {"cumsum": np.cumsum, "cumprod": np.cumprod}

    def total(self: Any, block: Any) -> Any:
        if not is_bf16(block):
            return stock_sum(self, block)
        values = widen(block.handle.data)
        halves = values.reshape(-1) if self.axis is None else np.moveaxis(values, self.axis, 0)
        while len(halves) > 1:  # a block's sides are powers of two
            halves = widen(narrow(halves[: len(halves) // 2] + halves[len(halves) // 2 :]))
        shape = np.sum(values, axis=self.axis, keepdims=self.keep_dims).shape
        return self.to_tensor(narrow(halves).reshape(shape), block.dtype)

    def scan(function: Callable[..., Array], stock: Callable[..., Any]) -> Callable[..., Any]:
        def run(self: Any, block: Any) -> Any:
            if not is_bf16(block):
                return stock(self, block)
            return [self.to_tensor(narrow(function(widen(block.handle.data), axis=self.axis)), block.dtype)]

        return run

    reduce_ops.sum = total
    for name, function in scans.items():
        setattr(scan_ops, name, scan(function, getattr(scan_ops, name)))


def _repair_atomics(memory: Any) -> None:
    """The C module adds no bf16 atomically; a float of 16 plain bits that reaches it can only be one."""
    stock = memory.atomic_rmw

    def atomic_rmw(op: Any, ptrs: Array, value: Array, mask: Array, sem: Any) -> Array:
        if op != memory.RMW_OP.FADD or value.dtype != np.uint16:
            return stock(op, ptrs, value, mask, sem)
        where, added = ptrs.reshape(-1), np.broadcast_to(value, ptrs.shape).reshape(-1)
        old = np.zeros(where.shape, np.uint16)
        left = np.flatnonzero(np.broadcast_to(mask, ptrs.shape))
        while left.size:  # lanes that share an element take turns
            turn = np.unique(where[left], return_index=True)[1]
            now = left[turn]
            every = np.ones(now.shape, bool)
            old[now] = memory.load(where[now], every, old[now], np.dtype(np.uint16))
            memory.store(where[now], narrow(widen(old[now]) + widen(added[now])), every)
            left = np.delete(left, turn)
        return old.reshape(ptrs.shape)

    memory.atomic_rmw = atomic_rmw
