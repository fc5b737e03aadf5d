"""Extra: what Huber's loss and an absolute error get wrong, and what the grader must say about it."""

from tools.planted import Mistake

AT_Y = "place(offs, n1, n2, n3, stride_y0, stride_y1, stride_y2, stride_y3, FLAT)\n"
BY_HUBER = "by_d = tl.where(d > delta, delta, tl.where(d < -delta, -delta, d))"
BY_SIGN = "by_d = tl.where(d > 0, 1.0, tl.where(d < 0, -1.0, d))"
DX = "dx = slope(x - y, delta, HUBER) * (tl.load(dmean_ptr) / n)"
FAR = "far = tl.where(far <= delta, 0.5 * d * d, delta * (far - 0.5 * delta))"
FLAT = "x.is_contiguous() and y.is_contiguous()"
LOADED = "    y = tl.load(y_ptr + at_y, mask=mask, other=0.0).to(tl.float32)\n    # Lanes"
SAVE = "ctx.save_for_backward(x, y)"

# fmt: off
mistakes = [
    Mistake("dy has dx's sign",
            {"tl.store(dy_ptr + offs, -dx, mask=mask)": "tl.store(dy_ptr + offs, dx, mask=mask)"},
            "sign of dx"),
    Mistake("the linear part lacks delta", {FAR: FAR.replace("delta * (far", "(far")}, "lacks delta"),
    Mistake("the two parts do not meet", {FAR: FAR.replace("(far - 0.5 * delta)", "far")}, "do not meet"),
    Mistake("the square lacks 0.5", {FAR: FAR.replace("0.5 * d * d", "d * d")}, "0.5"),
    Mistake("the slope of the line is a sign",
            {BY_HUBER: "by_d = tl.where(d > delta, 1.0, tl.where(d < -delta, -1.0, d))"}, "sign alone"),
    Mistake("the slope goes on growing", {BY_HUBER: "by_d = d"}, "d everywhere"),
    Mistake("|d| has slope 1 at 0", {BY_SIGN: "by_d = tl.where(d >= 0, 1.0, tl.where(d < 0, -1.0, d))"},
            "equal"),
    Mistake("NaN gets a gradient of -1",
            {BY_SIGN: "by_d = tl.where(d > 0, 1.0, tl.where(d == 0, 0.0, -1.0))"}, "where nan is right",
            fails="limit"),
    Mistake(
        "differences in the dtype of the inputs",
        {
            "    x = tl.load(x_ptr + at_x, mask=mask, other=0.0).to(tl.float32)\n" + LOADED: (
                "    x = tl.load(x_ptr + at_x, mask=mask, other=0.0)\n"
                "    y = tl.load(y_ptr + at_y, mask=mask, other=0.0)\n    # Lanes"
            )
        },
        "too low a precision",
        fails="correct or edges",
    ),
    Mistake("all inputs are taken to be contiguous", {FLAT: "True"}, "stride", fails="correct or edges"),
    Mistake(
        "y is taken to lie as x does",
        {
            f"at_y = {AT_Y}    # 8 bytes an element": (
                "at_y = place(offs, n1, n2, n3, stride_x0, stride_x1, stride_x2, stride_x3, FLAT)\n"
                "    # 8 bytes an element"
            )
        },
        "loads from a gap between",
        fails="correct or edges",
    ),
    Mistake("the mean is over a block", {"n_parts, n, BLOCK=16384": "n_parts, 2048, BLOCK=16384"},
            "is right"),
    Mistake("the upstream gradient is dropped", {DX: DX.replace("tl.load(dmean_ptr) / n", "1.0 / n")},
            "upstream"),
    Mistake("the gradients are not divided",
            {DX: DX.replace("(tl.load(dmean_ptr) / n)", "tl.load(dmean_ptr)")}, "not divided"),
    Mistake("the difference is kept", {SAVE: f"{SAVE}\n        ctx.d = torch.empty_like(x)"}, "keeps"),
    Mistake("half done: the last kernel is missing", {}, "never written", undone=("backward_kernel",),
            so_far="sums of blocks ✓ · mean ✓ · not started: dx, dy"),
    Mistake("half done: the last two kernels are missing", {}, "never written",
            undone=("mean_kernel", "backward_kernel"), so_far="sums of blocks ✓ · not started: mean, dx, dy"),
    Mistake("dy goes by whether x wants a gradient",
            {"for wanted in ctx.needs_input_grad[:2]": "for wanted in ctx.needs_input_grad[:1] * 2"},
            "The gradient of y is None", fails="edges"),
]
