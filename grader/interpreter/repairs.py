"""Repairs of Triton's CPU interpreter, installed from outside; `canaries.py` proves each before grading.

Triton 3.4 to 3.9 silently compute wrong bf16 in the interpreter (it works on the uint16 bit patterns),
truncate fp32→bf16 instead of rounding to nearest even, let NaN through tl.maximum, tl.minimum and tl.clamp,
cannot add bf16 or exchange floats atomically, cannot call libdevice, and cannot autotune without a driver.
They keep a comparison in the dtype of what is compared, multiply blocks of any size as if there were neither
TF32 nor fp16 sums, take no float or bool argument as a tensor, no constant of a file to the left of a block,
no list as a grid, no ~ of unsigned integers, and no word of tl.math as a method, and tl.gather beyond a table
counts from its other end. From 3.6 on at least, they lose carries where fp32 becomes fp8, read e4m3's NaN as
480, and keep more bits of sums of fp8 products than a GPU does. 3.6 has no range() over an argument where
numpy is 2.4 or later.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.autotuner import Autotuner, Heuristics

from grader.interpreter import annotated, bf16, combining, dots, external, fp8, order, quicken, rewriting

Array = Any  # numpy's generic array types say nothing useful about bit patterns
_Handle: Any = interpreter.TensorHandle
_installed = False


def install() -> None:
    """Repair the interpreter of this process, once; numpy is quiet too, as overflow to Inf is a GPU's."""
    global _installed
    if _installed:
        return
    _installed = True
    np.seterr(all="ignore")
    builder: Any = interpreter.InterpreterBuilder
    bf16.repair(builder)
    fp8.repair(builder)
    dots.repair(interpreter.interpreter_builder)
    _repair_comparisons(builder)
    _repair_extrema(builder)
    _repair_exchange(builder)
    _repair_ones(builder)
    _repair_gather(builder)
    _repair_arguments()
    _repair_ranges()
    _repair_constants()
    _repair_methods()
    _repair_grids()
    _repair_autotune()
    _repair_wrapping()
    external.repair()
    for part in (rewriting, annotated, combining, quicken):
        part.install()


def _repair_comparisons(builder: Any) -> None:
    """What is compared gives bools; a scalar of them that meets a block must not become numbers again."""
    stock = builder.binary_op

    def binary_op(self: Any, lhs: Any, rhs: Any, op: Callable[..., Array]) -> Any:
        result = stock(self, lhs, rhs, op)
        if result.data.dtype == np.bool_ and result.dtype is not tl.int1:
            result.dtype = tl.int1
        return result

    builder.binary_op = binary_op


def _repair_arguments() -> None:
    """A float is an fp32 tensor to a kernel, and a bool an int1, as an integer is an int32."""
    stock: Any = interpreter._implicit_cvt

    def convert(arg: Any) -> Any:
        if isinstance(arg, bool):
            return tl.tensor(_Handle(np.array([arg]), tl.int1), tl.int1)
        if isinstance(arg, float):
            return tl.tensor(_Handle(np.array([arg], np.float32), tl.float32), tl.float32)
        return stock(arg)

    module: Any = interpreter
    module._implicit_cvt = convert


def _repair_ranges() -> None:
    """`range(n)` over an argument: Triton 3.6 makes an int of an array, which numpy refuses from 2.4 on."""
    module: Any = interpreter
    stock = module._patch_lang_tensor

    def patch(tensor: Any, scope: Any) -> None:
        stock(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.squeeze()))

    module._patch_lang_tensor = patch


def _repair_constants() -> None:
    """`TWO * x`, where TWO = tl.constexpr(2.0) is a global: the number meets the block, not Triton's box."""
    names = ["add", "sub", "mul", "mod", "truediv", "floordiv", "lshift", "rshift", "and_", "or_", "xor"]

    def meeting(stock: Callable[..., Any], op: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, other: op(self.value, other) if type(other) is tl.tensor else stock(self, other)

    for name in (*names, "lt", "le", "gt", "ge", "eq", "ne"):
        method = f"__{name.strip('_')}__"
        setattr(tl.constexpr, method, meeting(getattr(tl.constexpr, method), getattr(operator, name)))


def _repair_methods() -> None:
    """`x.exp()` is tl.exp(x); the interpreter makes the one ready for a launch, and forgets the other."""

    def method(name: str, checked: bool) -> Callable[..., Any]:
        def call(self: Any, *args: Any, **options: Any) -> Any:
            if not checked and self.dtype in (tl.float16, tl.bfloat16):  # the word takes none
                return getattr(tl, name)(self.to(tl.float32), *args, **options).to(self.dtype)
            return getattr(tl, name)(self, *args, **options)

        return call

    for name, word in vars(tl.math).items():
        if tl.core.is_builtin(word) and hasattr(tl.tensor, name):
            # Newer versions make a method of the word with its check of dtypes, older ones of what it checks.
            behind = inspect.getclosurevars(getattr(tl.tensor, name)).nonlocals
            setattr(tl.tensor, name, method(name, checked=behind.get("fn") is word))
    tl.tensor.__array_ufunc__ = None  # or np.exp(x), which does not compile, would find x.exp()


def _repair_grids() -> None:
    """A list is a grid, too: a launch on a GPU asks for its length and its numbers alone."""
    executor: Any = interpreter.GridExecutor
    stock = executor.__init__

    def plain(grid: Any) -> Any:
        return tuple(grid) if isinstance(grid, list) else grid

    def create(self: Any, function: Any, names: Any, grid: Any, *more: Any, **options: Any) -> None:
        asked = (lambda meta: plain(grid(meta))) if callable(grid) else plain(grid)
        stock(self, function, names, asked, *more, **options)

    executor.__init__ = create


def _repair_extrema(builder: Any) -> None:
    """tl.maximum, tl.minimum and tl.clamp drop NaN unless they are asked not to, as fmax() and fmin() do."""
    stock_clamp = builder.create_clampf

    def create_clampf(self: Any, x: Any, low: Any, high: Any, propagate_nan: Any) -> Any:
        if propagate_nan == tl.PropagateNan.ALL:
            return stock_clamp(self, x, low, high, propagate_nan)
        return self.create_minnumf(self.create_maxnumf(x, low), high)

    builder.create_maxnumf = lambda self, lhs, rhs: self.binary_op(lhs, rhs, np.fmax)
    builder.create_minnumf = lambda self, lhs, rhs: self.binary_op(lhs, rhs, np.fmin)
    builder.create_clampf = create_clampf


def _repair_exchange(builder: Any) -> None:
    """tl.atomic_xchg of floats exchanges their bits: the stock one knows integers alone."""
    stock = builder.create_atomic_rmw

    def create_atomic_rmw(self: Any, op: Any, ptr: Any, val: Any, *more: Any) -> Any:
        dtype = val.data.dtype
        if "XCHG" not in str(op) or dtype.kind != "f":
            return stock(self, op, ptr, val, *more)
        old = stock(self, op, ptr, _Handle(val.data.view(f"u{dtype.itemsize}"), val.dtype), *more)
        return _Handle(old.data.view(dtype), val.dtype)

    builder.create_atomic_rmw = create_atomic_rmw


def _repair_ones(builder: Any) -> None:
    """`~x` is x with all bits turned: those of unsigned integers are not -1, which numpy refuses."""
    stock = builder.get_all_ones_value

    def get_all_ones_value(self: Any, type: Any) -> Any:
        dtype = np.dtype(interpreter._get_np_dtype(type))
        if dtype.kind != "u":
            return stock(self, type)
        return _Handle(np.full(1, np.iinfo(dtype).max, dtype), type.scalar)

    builder.get_all_ones_value = get_all_ones_value


def _repair_gather(builder: Any) -> None:
    """tl.gather beyond its table reads on a GPU whatever lies there; numpy counts from the end, or raises."""
    stock = builder.create_gather

    def create_gather(self: Any, src: Any, indices: Any, axis: int) -> Any:
        inside = (indices.data >= 0) & (indices.data < src.data.shape[axis])
        found = stock(self, src, _Handle(np.where(inside, indices.data, 0), indices.dtype), axis)
        nobody = np.frombuffer(b"\xff" * found.data.itemsize, found.data.dtype)  # NaN, of floats
        return _Handle(np.where(inside, found.data, nobody), found.dtype)

    builder.create_gather = create_gather


def _repair_wrapping() -> None:
    """Before torch 2.13 wrap_triton refuses a kernel that is interpreted, which needs no wrapping."""
    library: Any = torch.library
    if not hasattr(library, "wrap_triton"):
        return
    stock = library.wrap_triton

    def wrap_triton(kernel: Any) -> Any:
        innermost = kernel
        while isinstance(innermost, Autotuner | Heuristics):
            innermost = innermost.fn
        return kernel if isinstance(innermost, interpreter.InterpretedFunction) else stock(kernel)

    library.wrap_triton = wrap_triton


def _repair_autotune() -> None:
    """Without a driver nothing can be timed: the call's seed says which config is the fastest.

    So over many calls every config gives a result that is compared. The first tuning runs them all, as a GPU
    does: one that raises shows, and so do sums that pile up. Later ones run none, for what they write would
    hide what the chosen config leaves out.
    """
    stock: Any = Autotuner._bench

    def run_once(call: Callable[[], None], quantiles: Any = None) -> list[float]:
        call()
        return [0.0, 0.0, 0.0]

    def bench(self: Any, *args: Any, config: Any, **meta: Any) -> list[float]:
        time = 0.0 if self.cache else stock(self, *args, config=config, **meta)[0]
        return [time + order.lot(str(config))] * 3

    tuner: Any = Autotuner
    tuner.do_bench = property(lambda self: run_once, lambda self, value: None)
    tuner._bench = bench
