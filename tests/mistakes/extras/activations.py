"""Extra: what activations and their slopes get wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

AT_DY = "at_dy = place(offs, n1, n2, n3, stride_dy0, stride_dy1, stride_dy2, stride_dy3, FLAT)"
DX = "tl.store(dx_ptr + offs, dy * slope(kept, KIND), mask=mask)"
GELU_SLOPE = "by_x = p + kept * p * (1 - p) * (1.5957691 + 0.21406444 * kept * kept)"
KEEP = "ctx.save_for_backward(to_keep(kind, x, y))"
KINDS = 'if kind in ("sigmoid", "tanh"):'
OFFS = "    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)\n"
SERIES = "y = tl.where(tl.abs(x) < 0.125, series, 2 * tl.sigmoid(2 * x) - 1)"
SIGMOID = "        y = tl.sigmoid(x)\n"
SILU_SLOPE = "by_x = p + kept * p * (1 - p)\n"
TANH_SLOPE = "by_x = (1 - kept) * (1 + kept)"
X = "x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)"

mistakes = [
    Mistake(
        "the sigmoid overflows for large numbers",
        swap={SIGMOID: "        y = tl.exp(x) / (1 + tl.exp(x))\n"},
        fails="edges",
        says="overflow",
    ),
    Mistake(
        "tanh overflows for large numbers",
        swap={SERIES: "y = tl.where(tl.abs(x) < 0.125, series, (tl.exp(2 * x) - 1) / (tl.exp(2 * x) + 1))"},
        fails="edges",
        says="overflow",
    ),
    Mistake(
        "sigmoid cancels far below 0",
        swap={SIGMOID: "        y = 1 - 1 / (1 + tl.exp(x))\n"},
        fails="edges or correct",
        says="is right",
    ),
    Mistake(
        "tanh cancels near 0",
        swap={SERIES: "y = 2 * tl.sigmoid(2 * x) - 1"},
        fails="edges",
        says="large terms cancel",
    ),
    Mistake(
        "the activation is computed in the dtype of x",
        swap={X: X.removesuffix(".to(tl.float32)")},
        fails="correct",
        says="convert it first",
    ),
    Mistake(
        "tanh and sigmoid have changed places",
        swap={'return Activation.apply(x, "tanh")': 'return Activation.apply(x, "sigmoid")'},
        fails="correct",
        says="This is sigmoid, not tanh",
    ),
    Mistake(
        "silu lacks its factor x",
        swap={"y = x * tl.sigmoid(x)\n": "y = tl.sigmoid(x)\n"},
        fails="correct",
        says="This is sigmoid, not silu",
    ),
    Mistake(
        "the slope of gelu lacks the inner derivative",
        swap={GELU_SLOPE: "by_x = p + kept * p * (1 - p)"},
        fails="correct",
        says="chain rule",
    ),
    Mistake(
        "the slope of silu lacks the product rule's second term",
        swap={SILU_SLOPE: "by_x = p\n"},
        fails="correct",
        says="product rule's second term",
    ),
    Mistake(
        "x is kept, and the slopes are those of y",
        swap={KINDS: "if kind in ():"},
        fails="correct",
        says="takes x for y",
    ),
    Mistake(
        "y is kept for all four",
        swap={KINDS: "if kind:"},
        fails="correct",
        says="y does not tell",
    ),
    Mistake(
        "tanh takes the slope of sigmoid",
        swap={TANH_SLOPE: "by_x = kept * (1 - kept)"},
        fails="correct",
        says="slope of sigmoid",
    ),
    Mistake(
        "dy is left out",
        swap={DX: DX.replace("dy * ", "")},
        fails="correct",
        says="lacks dy",
    ),
    Mistake(
        "dy is taken to be contiguous",
        swap={AT_DY: "at_dy = offs"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "dy is read by the strides of what was kept",
        swap={AT_DY: "at_dy = place(offs, n1, n2, n3, stride_k0, stride_k1, stride_k2, stride_k3, FLAT)"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "x is taken to be contiguous",
        swap={"FLAT=x.is_contiguous()": "FLAT=True"},
        fails="edges",
        says="Only contiguous inputs come out right",
    ),
    Mistake(
        "x and y are both kept",
        swap={
            KEEP: "ctx.save_for_backward(to_keep(kind, x, y), x, y)",
            "(kept,) = ctx": "kept, *_ = ctx",
        },
        fails="correct",
        says="keeps",
    ),
    Mistake(
        "a strided x is copied first",
        swap={"        n = x.numel()\n": "        n, x = x.numel(), x.contiguous()\n"},
        fails="honest",
        says="stride",
    ),
    Mistake(
        "torch has the last word",
        swap={"return dx, None": "return dx * 1, None"},
        fails="honest",
        says="torch",
    ),
]
