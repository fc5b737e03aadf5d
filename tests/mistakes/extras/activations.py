"""Extra: what activations and their slopes get wrong, and what the grader must say about it."""

from tools.planted import Mistake

AT_DY = "at_dy = place(offs, n1, n2, n3, stride_dy0, stride_dy1, stride_dy2, stride_dy3, FLAT)"
DX = "tl.store(dx_ptr + offs, dy * slope(kept, KIND), mask=mask)"
GELU_SLOPE = "by_x = p + kept * p * (1 - p) * (1.5957691 + 0.21406444 * kept * kept)"
KEEP = "ctx.save_for_backward(to_keep(kind, x, y))"
KINDS = 'if kind in ("sigmoid", "tanh"):'
SERIES = "y = tl.where(tl.abs(x) < 0.125, series, 2 * tl.sigmoid(2 * x) - 1)"
SIGMOID = "        y = tl.sigmoid(x)\n"
SILU_SLOPE = "by_x = p + kept * p * (1 - p)\n"
TANH_SLOPE = "by_x = (1 - kept) * (1 + kept)"
X = "x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)"

# fmt: off
mistakes = [
    Mistake("the sigmoid overflows for large numbers", {SIGMOID: "        y = tl.exp(x) / (1 + tl.exp(x))\n"},
            "overflow", fails="edges"),
    Mistake("sigmoid cancels far below 0", {SIGMOID: "        y = 1 - 1 / (1 + tl.exp(x))\n"}, "is right",
            fails="edges or correct"),
    Mistake("tanh cancels near 0", {SERIES: "y = 2 * tl.sigmoid(2 * x) - 1"}, "large terms cancel",
            fails="edges"),
    Mistake("the activation is computed in the dtype of x", {X: X.removesuffix(".to(tl.float32)")},
            "convert it first"),
    Mistake("tanh and sigmoid have changed places",
            {'return Activation.apply(x, "tanh")': 'return Activation.apply(x, "sigmoid")'},
            "This is sigmoid, not tanh"),
    Mistake("silu lacks its factor x", {"y = x * tl.sigmoid(x)\n": "y = tl.sigmoid(x)\n"},
            "This is sigmoid, not silu"),
    Mistake("the slope of gelu lacks the inner derivative", {GELU_SLOPE: "by_x = p + kept * p * (1 - p)"},
            "chain rule"),
    Mistake("the slope of silu lacks the product rule's second term", {SILU_SLOPE: "by_x = p\n"},
            "product rule's second term"),
    Mistake("x is kept, and the slopes are those of y", {KINDS: "if kind in ():"}, "takes x for y"),
    Mistake("y is kept for all four", {KINDS: "if kind:"}, "y does not tell"),
    Mistake("tanh takes the slope of sigmoid", {TANH_SLOPE: "by_x = kept * (1 - kept)"}, "slope of sigmoid"),
    Mistake("dy is left out", {DX: DX.replace("dy * ", "")}, "lacks dy"),
    Mistake("dy is taken to be contiguous", {AT_DY: "at_dy = offs"}, "stride", fails="edges"),
    Mistake("x is taken to be contiguous", {"FLAT=x.is_contiguous()": "FLAT=True"},
            "Only contiguous inputs come out right", fails="edges"),
    Mistake("x and y are both kept",
            {KEEP: "ctx.save_for_backward(to_keep(kind, x, y), x, y)", "(kept,) = ctx": "kept, *_ = ctx"},
            "keeps"),
    Mistake("a strided x is copied first",
            {"        n = x.numel()\n": "        n, x = x.numel(), x.contiguous()\n"}, "stride",
            fails="honest"),
]
