"""Counts arithmetic in the interpreter: element operations by kind, and the operations of tl.dot.

Of integers random numbers alone are counted, which take most: the compiler shares the arithmetic of addresses
among elements, and it does not share Philox.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, cast

from triton.language import random
from triton.runtime import interpreter

from grader.meter.counter import Counter, Cut

ROUND = 4  # integer instructions: two products, of which both halves count, and two exclusive ors of three

_builder: Any = interpreter.interpreter_builder


@contextlib.contextmanager
def counted(counter: Counter) -> Iterator[None]:
    """While the block runs, count into `counter.tally`."""
    stock = type(_builder)

    def binary_op(lhs: Any, rhs: Any, op: Any) -> Any:
        result = stock.binary_op(_builder, lhs, rhs, op)
        _add(counter, lhs, result)
        return result

    def unary_op(arg: Any, op: Any) -> Any:
        result = stock.unary_op(_builder, arg, op)
        _add(counter, arg, result, special=True)
        return result

    def create_dot(a: Any, b: Any, d: Any, *rest: Any, **options: Any) -> Any:
        if counter.brief:
            raise Cut
        weight = counter.loops.weight
        counter.spend(d.data.size)
        counter.tally.dots += weight
        counter.tally.lines.setdefault("dot", counter.line())
        flops = weight * 2 * a.data.size * b.data.shape[-1]
        counter.tally.flops += flops
        counter.tally.waited += flops * counter.loops.waits
        if a.data.itemsize == 1:
            counter.tally.ops["8-bit dot"] = counter.tally.ops.get("8-bit dot", 0.0) + flops
        return interpreter.TensorHandle(d.data, d.dtype.scalar)  # no value is asked for, so none is computed

    def philox(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any, n_rounds: Any = 10) -> Any:
        result = runs(c0, c1, c2, c3, k0, k1, n_rounds)
        size, width = result[0].handle.data.size, c0.dtype.primitive_bitwidth // 32
        made = counter.loops.weight * size * ROUND * getattr(n_rounds, "value", n_rounds) * width**2
        counter.tally.ops["int"] = counter.tally.ops.get("int", 0.0) + made
        return result

    runs, module = random.philox_impl, cast(Any, random)
    module.philox_impl = philox
    _builder.binary_op, _builder.unary_op, _builder.create_dot = binary_op, unary_op, create_dot
    try:
        yield
    finally:
        module.philox_impl = runs
        for name in ("binary_op", "unary_op", "create_dot"):
            _builder.__dict__.pop(name, None)


def _add(counter: Counter, arg: Any, result: Any, special: bool = False) -> None:
    counter.spend(result.data.size)
    name = str(arg.dtype.scalar)
    if name[:2] not in ("fp", "bf"):
        return
    kind = ("special64" if special else "fp64") if name == "fp64" else "special" if special else "fp32"
    if name == "fp64":
        counter.tally.lines.setdefault("fp64", counter.line())
    ops = counter.tally.ops
    ops[kind] = ops.get(kind, 0.0) + counter.loops.weight * result.data.size
