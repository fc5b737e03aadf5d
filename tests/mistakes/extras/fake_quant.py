"""Extra: what goes wrong with fake integers and their gradient, and what the grader must say about it."""

from tools.planted import Mistake

CLAMP = "q = tl.where(q < qmin, qmin, tl.where(q > qmax, qmax, q))"
GRADIENT = "tl.where((q >= qmin) & (q <= qmax), dy, 0.0)"
LEVEL = "return libdevice.rint(x / scale) + zero_point"
RESULT = "return dx, None, None, None, None"
VALUE = "(q - zero_point) * scale"
DY = "dy_ptr + row * stride_dym + cols * stride_dyn"
KEPT = "ctx.save_for_backward(x, scale, zero_point)"
NUMBERS = """    scale = tl.load(scale_ptr + row)
    zero_point = tl.load(zero_point_ptr + row).to(tl.float32)
"""
X = "    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)\n"

# fmt: off
mistakes = [
    Mistake("halves rounded up", {LEVEL: "return tl.floor(x / scale + 0.5) + zero_point"},
            "Halves are rounded up"),
    Mistake("halves rounded away from 0", {LEVEL: "return libdevice.round(x / scale) + zero_point"},
            "Halves are rounded away from 0"),
    Mistake("cut off", {LEVEL: "return libdevice.trunc(x / scale) + zero_point"}, "Quotients are cut off"),
    Mistake("rounded down", {LEVEL: "return tl.floor(x / scale) + zero_point"}, "Quotients are rounded down"),
    Mistake("the zero point before rounding", {LEVEL: "return libdevice.rint(x / scale + zero_point)"},
            "added before rounding"),
    Mistake("the zero point is not added", {LEVEL: "return libdevice.rint(x / scale)"},
            "not added before the clamp"),
    Mistake("the zero point is not taken off", {VALUE: "q * scale"}, "not taken off again"),
    Mistake("the zero point with the other sign",
            {LEVEL: LEVEL.replace("+", "-"), VALUE: "(q + zero_point) * scale"}, "wrong sign"),
    Mistake("the integers themselves", {VALUE: "q"}, "These are the integers"),
    Mistake("times the scale forgotten", {VALUE: "q - zero_point"}, "not multiplied by the scale"),
    Mistake("a product instead of a quotient", {LEVEL: "return libdevice.rint(x * scale) + zero_point"},
            "x is multiplied by the scale"),
    Mistake(
        "the first row's numbers for every row, forward",
        {
            f"{NUMBERS}{X}    q = level(x, scale, zero_point)\n    # By": (
                f"{NUMBERS.replace(' + row', '')}{X}    q = level(x, scale, zero_point)\n    # By"
            )
        },
        "first scale and zero point",
    ),
    Mistake("no clamp", {f"    {CLAMP}\n": ""}, "Nothing is clamped"),
    Mistake("NaN is clamped to qmax", {CLAMP: "q = tl.minimum(tl.maximum(q, qmin), qmax)"},
            "where nan is right", fails="limit"),
    Mistake("the gradient passes everywhere", {GRADIENT: "dy"}, "was clamped, too"),
    Mistake("the gradient of rounding", {GRADIENT: "dy * 0.0"}, "gradient is that of rounding"),
    Mistake("qmin and qmax are outside", {GRADIENT: "tl.where((q > qmin) & (q < qmax), dy, 0.0)"},
            "they are inside"),
    Mistake("qmax is outside", {GRADIENT: "tl.where((q >= qmin) & (q < qmax), dy, 0.0)"},
            "stops at qmax itself"),
    Mistake("the mask turned round", {GRADIENT: "tl.where((q >= qmin) & (q <= qmax), 0.0, dy)"},
            "the other way round"),
    Mistake("the gradient over the scale", {GRADIENT: "tl.where((q >= qmin) & (q <= qmax), dy / scale, 0.0)"},
            "divided by the scale"),
    Mistake("the gradient of NaN is passed on", {GRADIENT: "tl.where((q < qmin) | (q > qmax), 0.0, dy)"},
            "The gradient of NaN passes", fails="limit"),
    Mistake("dy is taken to be contiguous", {DY: "dy_ptr + row * n_cols + cols"}, "stride",
            fails="edges or correct"),
    Mistake("the gradient in the place of the zero point's", {RESULT: "return dx, None, None, None"},
            "5 gradients are asked for"),
    Mistake("x is kept in fp32", {KEPT: KEPT.replace("(x", "(x.float()")}, "a tensor that torch computed"),
    Mistake("one block a row", {"return (n_rows * blocks,), {": "return (n_rows,), {"}, "never written"),
    Mistake("rounded by adding 1.5 · 2²³",
            {LEVEL: "return (x / scale + 12582912.0) - 12582912.0 + zero_point"},
            "The gradient of x: right in every case", fails="limit"),
    Mistake(
        "zero points go through fp16",
        {
            f"{X}    q = level(x, scale, zero_point)\n    # By": (
                f"{X}    zero_point = zero_point.to(tl.float16).to(tl.float32)\n"
                "    q = level(x, scale, zero_point)\n    # By"
            )
        },
        "At [",
        fails="limit",
    ),
]
