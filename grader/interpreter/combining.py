"""tl.reduce and tl.associative_scan with a combine function of the file's own, as a GPU works them out.

The interpreter calls the function as Python that nobody has rewritten, for one element after another, and
takes no axis from the end. Here it is called like every other device function, for whole blocks of pairs: in
a tree, as lanes and warps do it, so that it has to be associative here, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

from grader.interpreter.meanings import Uncompilable

Array = Any
_Handle: Any = interpreter.TensorHandle
Blocks = list[Any]  # what is reduced together: a value, or several, of one shape


def install() -> None:
    """Replace both in the interpreter of this process; to be called once."""
    reduce: Any = interpreter.ReduceOps
    scan: Any = interpreter.ScanOps
    reduce.generic_reduce = _either(_reduced, reduce.generic_reduce)
    scan.generic_scan = _either(_scanned, scan.generic_scan)


def _either(pairwise: Callable[..., Blocks], stock: Callable[..., Any]) -> Callable[..., Any]:
    """By blocks, of device functions; others the compiler refuses, and so does the stock way."""

    def generic(self: Any, given: Any) -> Any:
        kernel = isinstance(self.combine_fn, interpreter.InterpretedFunction)
        return pairwise(self, list(given)) if kernel else stock(self, given)

    return generic


def _reduced(self: Any, given: Blocks) -> Blocks:
    """Neighbours are combined, until one is left along the axis."""
    dims, axis, blocks = given[0].handle.data.ndim, getattr(self.axis, "value", self.axis), given
    if axis is None:
        blocks = [self.to_tensor(block.handle.data.reshape(-1), block.dtype) for block in given]
    along = 0 if axis is None else axis % dims
    while (size := blocks[0].handle.data.shape[along]) > 1:
        even, odd = (_cut(self, blocks, along, slice(first, size, 2)) for first in (0, 1))
        blocks = _combined(self, even, odd)
    flat = [block.handle.data for block in blocks]
    if not self.keep_dims:
        flat = [np.take(data, 0, along) for data in flat]
    elif axis is None:
        flat = [data.reshape((1,) * dims) for data in flat]
    return [self.to_tensor(data, block.dtype) for data, block in zip(flat, given, strict=True)]


def _scanned(self: Any, blocks: Blocks) -> Blocks:
    """Each takes in what lies 1, 2, 4, … places before it."""
    shape = blocks[0].handle.data.shape
    axis, reach = getattr(self.axis, "value", self.axis) % len(shape), 1
    place = np.arange(shape[axis]).reshape([-1 if dim == axis else 1 for dim in range(len(shape))])
    while reach < shape[axis]:
        before = [self.to_tensor(np.roll(block.handle.data, reach, axis), block.dtype) for block in blocks]
        made = _combined(self, before, blocks)
        chosen = [
            np.where(place < reach, block.handle.data, new.handle.data)
            for block, new in zip(blocks, made, strict=True)
        ]
        blocks = [self.to_tensor(data, block.dtype) for data, block in zip(chosen, blocks, strict=True)]
        reach *= 2
    return blocks


def _cut(self: Any, blocks: Blocks, axis: int, part: slice) -> Blocks:
    at = (slice(None),) * axis + (part,)
    return [self.to_tensor(block.handle.data[at], block.dtype) for block in blocks]


def _combined(self: Any, left: Blocks, right: Blocks) -> Blocks:
    """All pairs at once; one after another where the function has an `if`, which asks for one condition."""
    try:
        with mock.patch.object(tl.tensor, "__bool__", _decided):
            return [_like(got, block) for got, block in zip(_called(self, left, right), left, strict=True)]
    except Exception:
        shape = left[0].handle.data.shape
    made: list[Array] = [np.empty(shape, block.handle.data.dtype) for block in left]
    for at in np.ndindex(shape):
        pair = [[self.to_tensor(b.handle.data[at], b.dtype) for b in blocks] for blocks in (left, right)]
        for data, got in zip(made, _called(self, *pair), strict=True):
            data[at] = got.handle.data.item() if isinstance(got, tl.tensor) else got
    return [self.to_tensor(data, block.dtype) for data, block in zip(made, left, strict=True)]


def _decided(condition: Any) -> bool:
    """The interpreter takes any block for true.

    Raises:
        ValueError: it is a block, of which each element may say something else.
    """
    return bool(condition.handle.data.item())


def _called(self: Any, left: Blocks, right: Blocks) -> Blocks:
    """What the function gives for two of each.

    Raises:
        Uncompilable: of another dtype.
    """
    result = self.combine_fn(*left, *right)
    results = list(result) if isinstance(result, tuple | tl.tuple) else [result]
    for got, block in zip(results, left, strict=True):
        if isinstance(got, tl.tensor) and got.dtype != block.dtype:
            raise Uncompilable(f"a function that combines {block.dtype} gives {got.dtype}")
    return results


def _like(got: Any, block: Any) -> Any:
    """What the function gave, as a block of the shape of `block`; a constant, too."""
    same = block.handle.data
    data = got.handle.data if isinstance(got, tl.tensor) else np.asarray(got)
    return tl.tensor(_Handle(np.broadcast_to(data.astype(same.dtype), same.shape), block.dtype), block.type)
