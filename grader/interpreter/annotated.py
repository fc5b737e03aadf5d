"""What a kernel's annotations say of its arguments, as they say it to a launch on a GPU.

The interpreter makes text of them, and reads of it "tl.constexpr" alone: neither `language.constexpr` nor
`stride: tl.int64`, by which libraries have their offsets counted in 64 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter, jit

_Handle: Any = interpreter.TensorHandle
_normalised: Any = jit._normalize_ty
TYPES = {
    "u1": tl.int1, "i1": tl.int1, "i8": tl.int8, "i16": tl.int16, "i32": tl.int32, "i64": tl.int64,
    "u8": tl.uint8, "u16": tl.uint16, "u32": tl.uint32, "u64": tl.uint64,
    "fp16": tl.float16, "fp32": tl.float32, "fp64": tl.float64,
}  # fmt: skip


def notes(kernel: Any) -> dict[str, Any]:
    """The annotations of a function, each as a launch reads it."""
    read = {name: _normalised(note) for name, note in kernel.__annotations__.items()}
    return {name: "constexpr" if "constexpr" in note else note for name, note in read.items()}


def install() -> None:
    """Have the interpreter of this process go by them; to be called once."""
    executor: Any = interpreter.GridExecutor
    stock = executor.__call__

    def call(self: Any, *args: Any, **options: Any) -> Any:
        types = [TYPES.get(self.fn.__annotations__.get(name)) for name in self.arg_names]
        if not any(types):
            return stock(self, *args, **options)
        named = dict(zip(self.arg_names, types, strict=True))
        given = [_typed(*pair) for pair in zip(args, types, strict=False)]
        return stock(self, *given, **{name: _typed(v, named.get(name)) for name, v in options.items()})

    executor.__call__ = call


def _typed(value: Any, dtype: Any) -> Any:
    """A number as a scalar of that type; all else as it is."""
    if dtype is None or not isinstance(value, int | float):
        return value
    return tl.tensor(_Handle(np.array([value], interpreter._get_np_dtype(dtype)), dtype), dtype)
