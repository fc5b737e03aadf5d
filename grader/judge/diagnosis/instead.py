"""What tl calls otherwise than torch, NumPy or Python do, as data."""

from __future__ import annotations

WRITE = {
    "add": "a + b",
    "clamp": "tl.clamp(x, low, high)",
    "clip": "tl.clamp(x, low, high)",
    "concatenate": "tl.cat(a, b) or tl.join(a, b)",
    "div": "a / b",
    "half": "x.to(tl.float16)",
    "inf": 'float("inf")',
    "int": "x.to(tl.int32)",
    "masked_fill": "tl.where(mask, value, x)",
    "matmul": "tl.dot(a, b)",
    "mean": "the sum by tl.sum, divided by the number of elements",
    "mm": "tl.dot(a, b)",
    "mul": "a * b",
    "outer": "x[:, None] * y[None, :]",
    "pow": "x * x for a square",
    "relu": "tl.maximum(x, 0.0)",
    "round": "libdevice.rint(x)",
    "square": "x * x",
    "sub": "a - b",
    "t": "tl.trans(x)",
    "tanh": "2 * tl.sigmoid(2 * x) - 1",
    "transpose": "tl.trans(x)",
    "unsqueeze": "x[:, None] or x[None, :]",
}
# By whom they are looked for.
OF = {
    "tl.float": "tl.float32, or float(…) for a constant",
    "x.float": "x.to(tl.float32)",
    "python.float": "x.to(tl.float32)",
    "=.dim": "axis=",
    "=.keepdim": "keep_dims=",
    "=.keepdims": "keep_dims=",
    "=.masks": "mask=",
    "=.default": "other=",
    "=.fill": "other=",
    "=.others": "other=",
}
HANDED = ("size", "stride", "shape", "dim", "element_size")  # what a launcher gives as an argument
# What tl calls alike.
ALIKE = {
    "abs", "arange", "argmax", "argmin", "atomic_add", "cat", "cdiv", "ceil", "clamp", "cos", "cumprod",
    "cumsum", "device_print", "dot", "erf", "exp", "exp2", "fdiv", "flip", "floor", "fma", "full",
    "gather", "histogram", "load", "log", "log2", "max", "maximum", "min", "minimum", "next_power_of_2",
    "num_programs", "program_id", "range", "ravel", "reshape", "rsqrt", "sigmoid", "sin", "softmax",
    "sort", "sqrt", "store", "sum", "trans", "view", "where", "xor_sum", "zeros", "zeros_like",
}  # fmt: skip


def instead(name: str, owner: str = "x") -> str:
    """What to write in the place of `name`: the end of a sentence, empty where nothing is known.

    Args:
        owner: of the name: tl, `python`, `=` for a keyword; anything else is a tensor.
    """
    word = OF.get(f"{owner}.{name}") or OF.get(f"x.{name}" if owner not in ("tl", "python", "=") else "")
    if owner != "=" and not word:
        word = WRITE.get(name) or (f"tl.{name}" if name in ALIKE and owner != "tl" else "")
    if word:
        return f": write {word}"
    return ": the launcher gives it as an argument" if name in HANDED and owner not in ("=", "tl") else ""
