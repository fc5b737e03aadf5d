"""Extra: what goes wrong with fake integers and their gradient, and what the grader must say about it."""

from __future__ import annotations

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

mistakes = [
    Mistake(
        "halves rounded up",
        swap={LEVEL: "return tl.floor(x / scale + 0.5) + zero_point"},
        fails="correct",
        says="Halves are rounded up",
    ),
    Mistake(
        "halves rounded away from 0",
        swap={LEVEL: "return libdevice.round(x / scale) + zero_point"},
        fails="correct",
        says="Halves are rounded away from 0",
    ),
    Mistake(
        "cut off",
        swap={LEVEL: "return libdevice.trunc(x / scale) + zero_point"},
        fails="correct",
        says="Quotients are cut off",
    ),
    Mistake(
        "rounded down",
        swap={LEVEL: "return tl.floor(x / scale) + zero_point"},
        fails="correct",
        says="Quotients are rounded down",
    ),
    Mistake(
        "the zero point before rounding",
        swap={LEVEL: "return libdevice.rint(x / scale + zero_point)"},
        fails="correct",
        says="added before rounding",
    ),
    Mistake(
        "the zero point is not added",
        swap={LEVEL: "return libdevice.rint(x / scale)"},
        fails="correct",
        says="not added before the clamp",
    ),
    Mistake(
        "the zero point is not taken off",
        swap={VALUE: "q * scale"},
        fails="correct",
        says="not taken off again",
    ),
    Mistake(
        "the zero point with the other sign",
        swap={LEVEL: LEVEL.replace("+", "-"), VALUE: "(q + zero_point) * scale"},
        fails="correct",
        says="wrong sign",
    ),
    Mistake("the integers themselves", swap={VALUE: "q"}, fails="correct", says="These are the integers"),
    Mistake(
        "times the scale forgotten",
        swap={VALUE: "q - zero_point"},
        fails="correct",
        says="not multiplied by the scale",
    ),
    Mistake(
        "a product instead of a quotient",
        swap={LEVEL: "return libdevice.rint(x * scale) + zero_point"},
        fails="correct",
        says="x is multiplied by the scale",
    ),
    Mistake(
        "the first row's numbers for every row, forward",
        swap={
            f"{NUMBERS}{X}    q = level(x, scale, zero_point)\n    # By": (
                f"{NUMBERS.replace(' + row', '')}{X}    q = level(x, scale, zero_point)\n    # By"
            )
        },
        fails="correct",
        says="first scale and zero point",
    ),
    Mistake("no clamp", swap={f"    {CLAMP}\n": ""}, fails="correct", says="Nothing is clamped"),
    Mistake(
        "NaN is clamped to qmax",
        swap={CLAMP: "q = tl.minimum(tl.maximum(q, qmin), qmax)"},
        fails="limit",
        says="NaN",
    ),
    Mistake(
        "the mask looks at what was clamped",
        swap={
            GRADIENT: "tl.where(tl.minimum(tl.maximum(q, qmin), qmax) <= qmax, dy, 0.0)",
        },
        fails="correct",
        says="was clamped, too",
    ),
    Mistake(
        "the gradient passes everywhere", swap={GRADIENT: "dy"}, fails="correct", says="was clamped, too"
    ),
    Mistake(
        "the gradient of rounding",
        swap={GRADIENT: "dy * 0.0"},
        fails="correct",
        says="gradient is that of rounding",
    ),
    Mistake(
        "qmin and qmax are outside",
        swap={GRADIENT: "tl.where((q > qmin) & (q < qmax), dy, 0.0)"},
        fails="correct",
        says="they are inside",
    ),
    Mistake(
        "qmax is outside",
        swap={GRADIENT: "tl.where((q >= qmin) & (q < qmax), dy, 0.0)"},
        fails="correct",
        says="stops at qmax itself",
    ),
    Mistake(
        "the mask turned round",
        swap={GRADIENT: "tl.where((q >= qmin) & (q <= qmax), 0.0, dy)"},
        fails="correct",
        says="the other way round",
    ),
    Mistake(
        "the gradient over the scale",
        swap={GRADIENT: "tl.where((q >= qmin) & (q <= qmax), dy / scale, 0.0)"},
        fails="correct",
        says="divided by the scale",
    ),
    Mistake(
        "the gradient of NaN is passed on",
        swap={GRADIENT: "tl.where((q < qmin) | (q > qmax), 0.0, dy)"},
        fails="limit",
        says="The gradient of NaN passes",
    ),
    Mistake(
        "dy is taken to be contiguous",
        swap={DY: "dy_ptr + row * n_cols + cols"},
        fails="edges or correct",
        says="stride",
    ),
    Mistake(
        "the gradient in the place of the zero point's",
        swap={RESULT: "return dx, None, None, None"},
        fails="correct",
        says="5 gradients are asked for",
    ),
    Mistake(
        "x is kept in fp32",
        swap={KEPT: KEPT.replace("(x", "(x.float()")},
        fails="correct",
        says="a tensor that torch computed",
    ),
    Mistake(
        "one block a row",
        swap={"return (n_rows * blocks,), {": "return (n_rows,), {"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "torch fakes",
        swap={
            "    return FakeQuantize": "    y = torch.clamp(torch.round(x / scale[:, None]), qmin, qmax)\n"
            "    return FakeQuantize"
        },
        fails="honest",
        says="torch",
    ),
    Mistake(
        "rounded by adding 1.5 · 2²³",
        swap={LEVEL: "return (x / scale + 12582912.0) - 12582912.0 + zero_point"},
        fails="limit",
        says="The gradient of x: right in every case",
    ),
    Mistake(
        "zero points go through fp16",
        swap={
            f"{X}    q = level(x, scale, zero_point)\n    # By": (
                f"{X}    zero_point = zero_point.to(tl.float16).to(tl.float32)\n"
                "    q = level(x, scale, zero_point)\n    # By"
            )
        },
        fails="limit",
        says="At [",
    ),
]
