"""What moves lanes, makes constants or multiplies blocks: for each operation a function of its operands."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.kernel import number_formats
from grader.kernel.batch import whole
from grader.kernel.dot_accumulators import in_14_bits, in_fp16
from grader.kernel.number_formats import Array
from grader.kernel.ttir import Operation

Compute = Callable[..., Any]


def number(operation: Operation, name: str) -> int:
    """An attribute of an operation."""
    found = re.search(rf"{name} = (-?\d+)", operation.text)
    assert found, operation.text
    return int(found[1])


def _expand(operation: Operation) -> Compute:
    axis = number(operation, "axis") + 1
    return lambda x: np.expand_dims(x, axis)


def _splat(operation: Operation) -> Compute:
    ones = (1,) * len(operation.gives[0].shape)
    return lambda x: x.reshape(x.shape[0], *ones)


def _reshape(operation: Operation) -> Compute:
    source, target = operation.takes[0].shape, operation.gives[0].shape
    return lambda x: whole(x, source).reshape(x.shape[0], *target)


def _transpose(operation: Operation) -> Compute:
    found = re.search(r"order = array<i32: ([\d, ]+)>", operation.text)
    assert found, operation.text
    order = (0, *(int(axis) + 1 for axis in found[1].split(",")))
    return lambda x: x.transpose(order)


def _join(_: Operation) -> Compute:
    return lambda a, b: np.stack(np.broadcast_arrays(a, b), -1)


def _split(operation: Operation) -> Compute:
    shape = operation.takes[0].shape
    return lambda x: [whole(x, shape)[..., 0], whole(x, shape)[..., 1]]


def _concatenate(operation: Operation) -> Compute:
    shape = operation.takes[0].shape
    other = operation.takes[-1].shape

    def join(a: Array, b: Array) -> Array:
        a, b = whole(a, shape), whole(b, other)
        count = max(len(a), len(b))
        return np.concatenate([np.broadcast_to(x, (count, *x.shape[1:])) for x in (a, b)], 1)

    return join


def _gather(operation: Operation) -> Compute:
    axis, (table, index) = number(operation, "axis") + 1, (one.shape for one in operation.takes[:2])

    def gather(x: Array, at: Array) -> Array:
        count = max(len(x), len(at))
        x = np.broadcast_to(x, (count, *table))
        at = np.broadcast_to(at, (count, *index)).astype(np.int64)
        inside = (at >= 0) & (at < x.shape[axis])
        found = np.take_along_axis(x, np.where(inside, at, 0), axis)
        nobody = np.frombuffer(b"\xff" * found.itemsize, found.dtype)  # whatever lies there; NaN, of floats
        return np.where(inside, found, nobody)

    return gather


def _histogram(operation: Operation) -> Compute:
    source, bins = operation.takes[0].shape, operation.gives[0].shape[0]

    def count(x: Array, mask: Array | None = None) -> Array:
        x = whole(x, source)
        rows = np.broadcast_to(np.arange(len(x))[:, None], x.shape)
        live = (x >= 0) & (x < bins)
        live = live if mask is None else live & mask
        found = np.bincount((rows * bins + x)[live], minlength=len(x) * bins)
        return found.reshape(len(x), bins).astype(np.int32)

    return count


def _pointer(operation: Operation) -> Compute:
    step = np.int64(number_formats.size(operation.gives[0].element.removeprefix("*")))
    return lambda base, offset: base + offset.astype(np.int64) * step


def _select(operation: Operation) -> Compute:
    block = operation.gives[-1].shape
    if operation.takes[0].shape or not block or len(operation.takes) < 2:
        return lambda which, yes, no: np.where(which, yes, no)
    ones = (1,) * len(block)  # one condition for a whole block
    return lambda which, yes, no: np.where(which.reshape(-1, *ones), yes, no)


def _constant(operation: Operation) -> Compute:
    kind = operation.gives[0] if operation.gives else None
    shape, element = (kind.shape, kind.element) if kind else ((), "i1")
    found = re.search(r"dense<(?!\[)([^>]*)>", operation.text)
    text = found[1] if found else operation.text.split(" : ")[0].split(" ")[-1]
    if "[" in operation.text:
        listed = re.findall(r"-?[\w.+]+", operation.text.partition("<")[2].partition(">")[0])
        value = np.concatenate([number_formats.literal(one, element) for one in listed]).reshape(1, *shape)
    else:
        value = number_formats.literal(text, element).reshape((1,) * (len(shape) + 1))
    return lambda: value


def _range(operation: Operation) -> Compute:
    value = np.arange(number(operation, "start"), number(operation, "end"), dtype=np.int32)[None]
    return lambda: value


def _dot(operation: Operation) -> Compute:
    """As matrix units do it: exact products, and sums of fp16 and fp8 as they keep them."""
    (a, b), gives = operation.takes[:2], operation.gives[0].element
    as_tf32 = a.element == "f32" and "inputPrecision = tf32" in operation.text
    as_tf32 &= "tf32x3" not in operation.text
    narrow = re.search(r"maxNumImpreciseAcc = (\d+)", operation.text)
    most = int(narrow[1]) if narrow else 0

    def dot(x: Array, y: Array, total: Array) -> Array:
        x, y = whole(x, a.shape), whole(y, b.shape)
        if as_tf32:
            x, y = number_formats.tf32(x), number_formats.tf32(y)
        if gives == "i32":
            return np.matmul(x.astype(np.float64), y.astype(np.float64)).astype(np.int32) + total
        if gives == "f16":
            return in_fp16(x, y, total.astype(np.float16)).astype(np.float32)
        if a.element.startswith("f8") and most and a.shape[-2] >= 64:
            return in_14_bits(x, y, np.broadcast_to(total, (*x.shape[:-1], y.shape[-1])), most)
        return number_formats.rounded(np.matmul(x, y) + total, gives)

    return dot


def _poison(operation: Operation) -> Compute:
    shape, element = operation.gives[0]
    value = np.zeros((1,) * (len(shape) + 1), number_formats.carrier(element))
    return lambda: value


def _same(_: Operation) -> Compute:
    return lambda x: x


MADE: dict[str, Callable[[Operation], Compute]] = {
    **{"tt.expand_dims": _expand, "tt.splat": _splat, "tt.reshape": _reshape, "tt.trans": _transpose},
    **{"tt.join": _join, "tt.split": _split, "tt.cat": _concatenate, "tt.gather": _gather},
    **{"tt.histogram": _histogram, "tt.addptr": _pointer, "arith.select": _select, "tt.dot": _dot},
    **{"arith.constant": _constant, "tt.make_range": _range, "ub.poison": _poison, "tt.broadcast": _same},
    "tt.unsplat": lambda _: lambda x: x.reshape(x.shape[0]),
}
