"""Day 26: what a call into libdevice gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ALLOCATION = "y = torch.empty(x.shape, dtype=x.dtype, device=x.device)"
ASINH = "libdevice.asinh(x)"
ERF = "libdevice.erf(x * 0.7071067811865476)"
GELU = "0.5 * x * (1.0 + erf)"
GELU_LOAD = "comes down in the store.\n    x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)"
ASINH_LOAD = "x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)\n    # Right"
GRID = "triton.cdiv(x.numel(), BLOCK)"
RETURN = "    return y"

mistakes = [
    Mistake(
        "GELU in its tanh form",
        swap={ERF: "libdevice.tanh(0.7978845608 * (x + 0.044715 * x * x * x))"},
        fails="correct",
        says="tanh form",
    ),
    Mistake(
        "GELU as a sigmoid",
        swap={GELU: "x / (1.0 + tl.exp(-1.702 * x))"},
        fails="correct",
        says="sigmoid",
    ),
    Mistake("erf of x instead of x / √2", swap={ERF: "libdevice.erf(x)"}, fails="correct", says="x itself"),
    Mistake(
        "erf of x times √2",
        swap={ERF: "libdevice.erf(x * 1.4142135623730951)"},
        fails="correct",
        says="divide by it",
    ),
    Mistake(
        "1 / √2 has four digits",
        swap={ERF: "libdevice.erf(x * 0.7071)"},
        fails="correct or edges",
        says=("a constant is another one", "a small part"),
    ),
    Mistake("erfc instead of erf", swap={"libdevice.erf(": "libdevice.erfc("}, fails="correct", says="erfc"),
    Mistake("x is forgotten", swap={GELU: "0.5 * (1.0 + erf)"}, fails="correct", says="missing"),
    Mistake("the 1 is forgotten", swap={GELU: "0.5 * x * erf"}, fails="correct", says="The 1 before"),
    Mistake("the half is forgotten", swap={GELU: "x * (1.0 + erf)"}, fails="correct", says="2 times"),
    Mistake(
        "erf is rounded to x's dtype before the 1 is added",
        swap={ERF: ERF + ".to(y_ptr.dtype.element_ty)"},
        fails="correct",
        says="precision",
    ),
    Mistake(
        "asinh is asked for in x's dtype, where libdevice has none for fp16",
        swap={ASINH_LOAD: ASINH_LOAD.replace(".to(tl.float32)", "")},
        fails="correct",
        says="cannot compile",
    ),
    Mistake(
        "asinh as log(x + √(x² + 1))",
        swap={ASINH: "tl.log(x + tl.sqrt(x * x + 1.0))"},
        fails="edges",
        says="cancels near 0",
    ),
    Mistake(
        "asinh as log(|x| + √(x² + 1)) with the sign put back",
        swap={ASINH: "libdevice.copysign(tl.log(tl.abs(x) + tl.sqrt(x * x + 1.0)), x)"},
        fails="edges",
        says="beside the 1",
    ),
    Mistake(
        "asinh by log1p, where x² still overflows",
        swap={ASINH: "libdevice.copysign(libdevice.log1p(tl.abs(x) + x * x / (1 + tl.sqrt(x * x + 1))), x)"},
        fails="edges",
        says="overflows",
    ),
    Mistake(
        "the sign of asinh is chosen with x < 0, which misses -0.0",
        swap={ASINH: "tl.where(x < 0, -libdevice.asinh(tl.abs(x)), libdevice.asinh(tl.abs(x)))"},
        fails="edges",
        says="-0.0",
    ),
    Mistake(
        "asinh of |x|", swap={ASINH: "libdevice.asinh(tl.abs(x))"}, fails="correct", says="The sign is lost"
    ),
    Mistake("acosh instead of asinh", swap={ASINH: "libdevice.acosh(x)"}, fails="correct", says="acosh"),
    Mistake("sinh instead of asinh", swap={ASINH: "libdevice.sinh(x)"}, fails="correct", says="its inverse"),
    Mistake(
        "the load of GELU has no mask",
        swap={GELU_LOAD: GELU_LOAD.replace(", mask=mask", "")},
        fails="correct",
        says="Unmasked load",
    ),
    Mistake(
        "the store of asinh has no mask",
        swap={f"{ASINH}, mask=mask": ASINH},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake(
        "the last block gets no program",
        swap={GRID: "x.numel() // BLOCK"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the result is a vector whatever x's shape",
        swap={"torch.empty(x.shape,": "torch.empty(x.numel(),"},
        fails="correct",
        says="shape",
    ),
    Mistake("the result is always fp32", swap={"dtype=x.dtype, ": ""}, fails="correct", says="dtype"),
    Mistake("the result overwrites x", swap={ALLOCATION: "y = x"}, fails="correct", says="input"),
    Mistake("nothing is returned", swap={RETURN: "    y"}, fails="correct", says="None"),
    Mistake(
        "torch does the work of asinh",
        swap={"return elementwise(asinh_kernel, x)": "return torch.asinh(x)"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "gelu_erf launches the kernel of asinh",
        swap={"elementwise(gelu_erf_kernel, x)": "elementwise(asinh_kernel, x)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "asinh of a large x is log(2 |x|), where 2 |x| may be Inf",
        swap={
            f"{ASINH}, mask": (
                f"tl.where(tl.abs(x) > 1e18, libdevice.copysign(tl.log(2.0 * tl.abs(x)), x), {ASINH}), mask"
            )
        },
        fails="edges",
        says="is Inf. The result is finite",
    ),
]
