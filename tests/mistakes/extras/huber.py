"""Extra: what Huber's loss and an absolute error get wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

AT_Y = "place(offs, n1, n2, n3, stride_y0, stride_y1, stride_y2, stride_y3, FLAT)\n"
BY_HUBER = "by_d = tl.where(d > delta, delta, tl.where(d < -delta, -delta, d))"
BY_SIGN = "by_d = tl.where(d > 0, 1.0, tl.where(d < 0, -1.0, d))"
DX = "dx = slope(x - y, delta, HUBER) * (tl.load(dmean_ptr) / n)"
FAR = "far = tl.where(far <= delta, 0.5 * d * d, delta * (far - 0.5 * delta))"
FLAT = "x.is_contiguous() and y.is_contiguous()"
LOADED = "    y = tl.load(y_ptr + at_y, mask=mask, other=0.0).to(tl.float32)\n    # Lanes"
REPEATED = """    last = tl.load(x_ptr + at_x * 0, mask=offs >= 0) if FLAT else x
    x = tl.where(mask, x, last.to(tl.float32))
    # Lanes"""
PART = "part_ptr + tl.program_id(0), tl.sum(c"
SAVE = "ctx.save_for_backward(x, y)"

mistakes = [
    Mistake(
        "dy has dx's sign",
        swap={"tl.store(dy_ptr + offs, -dx, mask=mask)": "tl.store(dy_ptr + offs, dx, mask=mask)"},
        fails="correct",
        says="sign of dx",
    ),
    Mistake(
        "the linear part lacks delta",
        swap={FAR: FAR.replace("delta * (far", "(far")},
        fails="correct",
        says="lacks delta",
    ),
    Mistake(
        "the two parts do not meet",
        swap={FAR: FAR.replace("(far - 0.5 * delta)", "far")},
        fails="correct",
        says="do not meet",
    ),
    Mistake(
        "the square lacks 0.5", swap={FAR: FAR.replace("0.5 * d * d", "d * d")}, fails="correct", says="0.5"
    ),
    Mistake(
        "the slope of the line is a sign",
        swap={BY_HUBER: "by_d = tl.where(d > delta, 1.0, tl.where(d < -delta, -1.0, d))"},
        fails="correct",
        says="sign alone",
    ),
    Mistake("the slope goes on growing", swap={BY_HUBER: "by_d = d"}, fails="correct", says="d everywhere"),
    Mistake(
        "|d| has slope 1 at 0",
        swap={BY_SIGN: "by_d = tl.where(d >= 0, 1.0, tl.where(d < 0, -1.0, d))"},
        fails="correct",
        says="equal",
    ),
    Mistake(
        "NaN gets a gradient of -1",
        swap={BY_SIGN: "by_d = tl.where(d > 0, 1.0, tl.where(d == 0, 0.0, -1.0))"},
        fails="limit",
        says="any comparison with NaN is false",
    ),
    Mistake(
        "differences in the dtype of the inputs",
        swap={
            "    x = tl.load(x_ptr + at_x, mask=mask, other=0.0).to(tl.float32)\n" + LOADED: (
                "    x = tl.load(x_ptr + at_x, mask=mask, other=0.0)\n"
                "    y = tl.load(y_ptr + at_y, mask=mask, other=0.0)\n    # Lanes"
            )
        },
        fails="correct or edges",
        says="half precision is too low",
    ),
    Mistake(
        "all inputs are taken to be contiguous", swap={FLAT: "True"}, fails="correct or edges", says="stride"
    ),
    Mistake(
        "y is taken to lie as x does",
        swap={
            f"at_y = {AT_Y}    # 8 bytes an element": (
                "at_y = place(offs, n1, n2, n3, stride_x0, stride_x1, stride_x2, stride_x3, FLAT)\n"
                "    # 8 bytes an element"
            )
        },
        fails="correct or edges",
        says="loads from a gap between",
    ),
    Mistake(
        "lanes past the end repeat the first element",
        swap={LOADED: LOADED.replace("    # Lanes", REPEATED)},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the mean is over a block",
        swap={"n_parts, n, BLOCK=16384": "n_parts, 2048, BLOCK=16384"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the sums of blocks are added to what was there",
        swap={
            f"tl.store({PART}": f"tl.atomic_add({PART}",
        },
        fails="correct",
        says="torch.empty",
    ),
    Mistake(
        "the upstream gradient is dropped",
        swap={DX: DX.replace("tl.load(dmean_ptr) / n", "1.0 / n")},
        fails="correct",
        says="upstream",
    ),
    Mistake(
        "the gradients are not divided",
        swap={DX: DX.replace("(tl.load(dmean_ptr) / n)", "tl.load(dmean_ptr)")},
        fails="correct",
        says="not divided",
    ),
    Mistake(
        "the difference is kept",
        swap={SAVE: f"{SAVE}\n        ctx.d = torch.empty_like(x)"},
        fails="correct",
        says="keeps",
    ),
    Mistake(
        "torch finds the mean",
        swap={"        return mean\n": "        return part.sum() / n\n"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "half done: the last kernel is missing",
        swap={},
        fails="correct",
        says="never written",
        undone=("backward_kernel",),
        so_far="sums of blocks ✓ · mean ✓ · not started: dx, dy",
    ),
    Mistake(
        "half done: the last two kernels are missing",
        swap={},
        fails="correct",
        says="never written",
        undone=(
            "mean_kernel",
            "backward_kernel",
        ),
        so_far="sums of blocks ✓ · not started: mean, dx, dy",
    ),
    Mistake(
        "dy goes by whether x wants a gradient",
        swap={"for wanted in ctx.needs_input_grad[:2]": "for wanted in ctx.needs_input_grad[:1] * 2"},
        fails="edges",
        says="The gradient of y is None",
    ),
]
