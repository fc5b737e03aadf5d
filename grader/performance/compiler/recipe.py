"""What has to be known of a launch to compile it in another process, as JSON, and back."""

from __future__ import annotations

import dataclasses
import inspect
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import torch
import triton.language as tl
from triton.experimental.gluon.language import _layouts
from triton.experimental.gluon.nvidia import hopper as gluon
from triton.tools.tensor_descriptor import TensorDescriptor

OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "launch_pdl")

LAYOUTS = (_layouts.DistributedLayout, _layouts.SharedLayout)  # of Gluon


class Unknown(Exception):
    """An argument that cannot be written down."""


def written(kernel: Any, named: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """The recipe of one launch; `{"unknown": why}` where it cannot be written down.

    Args:
        kernel: its Python function.
        named: arguments by parameter.
        options: all keywords of the launch, num_warps and the like among them.
    """
    try:
        return {
            "kernel": kernel.__name__,
            "line": defined(kernel),
            "arguments": {name: _word(value) for name, value in named.items()},
            "constants": [n for n, note in kernel.__annotations__.items() if "constexpr" in str(note)],
            "options": {name: options[name] for name in OPTIONS if options.get(name) is not None},
        }
    except Unknown as error:
        return {"unknown": str(error)}


def defined(kernel: Any) -> int:
    """The line of its `def`, below all decorators."""
    first = int(kernel.__code__.co_firstlineno)
    try:
        lines = inspect.getsourcelines(kernel)[0]
    except (OSError, TypeError):
        return first
    return first + next((n for n, line in enumerate(lines) if line.lstrip().startswith("def ")), 0)


def _word(value: Any) -> Any:
    value = value.value if isinstance(value, tl.constexpr) else value
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        return {"is": "tensor", "dtype": dtype, "aligned": value.data_ptr() % 16 == 0}
    if isinstance(value, TensorDescriptor | gluon.TensorDescriptor):
        words = {name: [int(n) for n in getattr(value, name)] for name in ("shape", "strides", "block_shape")}
        return {"is": "descriptor", "base": _word(value.base), **words, "layout": _word(_layout(value))}
    if isinstance(value, LAYOUTS):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        words = {
            name: _word(field) if isinstance(field, LAYOUTS) else field for name, field in fields.items()
        }
        return {"is": "layout", "name": type(value).__name__, **words}
    if isinstance(value, tl.dtype):
        return {"is": "dtype", "name": value.name}
    if isinstance(value, tuple | list):
        return {
            "is": "tuple",
            "items": [_word(item) for item in value],
            "fields": getattr(value, "_fields", ()),
        }
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"is": "float", "text": repr(value)}
    if callable(value) and hasattr(value, "__name__"):
        return {"is": "function", "name": value.__name__}
    raise Unknown(f"an argument of type {type(value).__name__}")


def _layout(descriptor: Any) -> Any:
    """Of shared memory, in Gluon; None where the compiler chooses it."""
    return getattr(descriptor, "layout", None)


class Mock:
    """Stands for a tensor of which only dtype and alignment matter."""

    def __init__(self, dtype: torch.dtype, aligned: bool = True) -> None:
        self.dtype, self.aligned, self.shape = dtype, aligned, [1]

    def data_ptr(self) -> int:
        return 0 if self.aligned else 4

    @staticmethod
    def ptr_range() -> int:
        return 0

    def stride(self) -> tuple[int, ...]:
        return (1,)

    def element_size(self) -> int:
        return self.dtype.itemsize

    def dim(self) -> int:
        return 1


def read(recipe: dict[str, Any], function: Callable[[str], Any]) -> dict[str, Any]:
    """The arguments by parameter.

    Args:
        function: the learner's jitted function of a name.
    """
    return {name: _value(word, function) for name, word in recipe["arguments"].items()}


def _value(word: Any, function: Callable[[str], Any]) -> Any:
    if not isinstance(word, dict):
        return word
    kind = word["is"]
    if kind == "tensor":
        return Mock(getattr(torch, word["dtype"]), word["aligned"])
    if kind == "descriptor":
        base = _value(word["base"], function)
        sizes = word["shape"], word["strides"], word["block_shape"]
        layout = _value(word["layout"], function)
        return gluon.TensorDescriptor(base, *sizes, layout) if layout else TensorDescriptor(base, *sizes)
    if kind == "layout":
        fields = {name: _value(field, function) for name, field in word.items() if name not in ("is", "name")}
        return getattr(_layouts, word["name"])(**fields)
    if kind == "dtype":
        return tl.dtype(word["name"])
    if kind == "tuple":
        items = [_value(item, function) for item in word["items"]]
        return namedtuple("Given", word["fields"])(*items) if word["fields"] else tuple(items)
    return float(word["text"]) if kind == "float" else function(word["name"])
