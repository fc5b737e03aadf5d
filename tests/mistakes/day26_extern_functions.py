"""Day 26: what a call into libdevice gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALLOCATION = "y = torch.empty(x.shape, dtype=x.dtype, device=x.device)"
ASINH = "libdevice.asinh(x)"
ERF = "libdevice.erf(x * 0.7071067811865476)"
GELU = "0.5 * x * (1.0 + erf)"
GELU_LOAD = "comes down in the store.\n    x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)"
ASINH_LOAD = "x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)\n    # Right"
GRID = "triton.cdiv(x.numel(), BLOCK)"
RETURN = "    return y"

# fmt: off
mistakes = [
    Mistake("GELU in its tanh form", {ERF: "libdevice.tanh(0.7978845608 * (x + 0.044715 * x * x * x))"},
            "tanh form"),
    Mistake("GELU as a sigmoid", {GELU: "x / (1.0 + tl.exp(-1.702 * x))"}, "sigmoid"),
    Mistake("erf of x instead of x / √2", {ERF: "libdevice.erf(x)"}, "x itself"),
    Mistake("erf of x times √2", {ERF: "libdevice.erf(x * 1.4142135623730951)"}, "divide by it"),
    Mistake("1 / √2 has four digits", {ERF: "libdevice.erf(x * 0.7071)"},
            ("a constant is another one", "a small part"), fails="correct or edges"),
    Mistake("erfc instead of erf", {"libdevice.erf(": "libdevice.erfc("}, "erfc"),
    Mistake("x is forgotten", {GELU: "0.5 * (1.0 + erf)"}, "missing"),
    Mistake("the 1 is forgotten", {GELU: "0.5 * x * erf"}, "The 1 before"),
    Mistake("the half is forgotten", {GELU: "x * (1.0 + erf)"}, "2 times"),
    Mistake("erf is rounded to x's dtype before the 1 is added", {ERF: ERF + ".to(y_ptr.dtype.element_ty)"},
            "precision"),
    Mistake("asinh is asked for in x's dtype, where libdevice has none for fp16",
            {ASINH_LOAD: ASINH_LOAD.replace(".to(tl.float32)", "")}, "cannot compile"),
    Mistake("asinh as log(x + √(x² + 1))", {ASINH: "tl.log(x + tl.sqrt(x * x + 1.0))"}, "cancels near 0",
            fails="edges"),
    Mistake("asinh as log(|x| + √(x² + 1)) with the sign put back",
            {ASINH: "libdevice.copysign(tl.log(tl.abs(x) + tl.sqrt(x * x + 1.0)), x)"}, "beside the 1",
            fails="edges"),
    Mistake("asinh by log1p, where x² still overflows",
            {ASINH: "libdevice.copysign(libdevice.log1p(tl.abs(x) + x * x / (1 + tl.sqrt(x * x + 1))), x)"},
            "overflows", fails="edges"),
    Mistake("the sign of asinh is chosen with x < 0, which misses -0.0",
            {ASINH: "tl.where(x < 0, -libdevice.asinh(tl.abs(x)), libdevice.asinh(tl.abs(x)))"}, "-0.0",
            fails="edges"),
    Mistake("asinh of |x|", {ASINH: "libdevice.asinh(tl.abs(x))"}, "The sign is lost"),
    Mistake("acosh instead of asinh", {ASINH: "libdevice.acosh(x)"}, "acosh"),
    Mistake("sinh instead of asinh", {ASINH: "libdevice.sinh(x)"}, "its inverse"),
    Mistake("the load of GELU has no mask", {GELU_LOAD: GELU_LOAD.replace(", mask=mask", "")},
            "Unmasked load"),
    Mistake("the store of asinh has no mask", {f"{ASINH}, mask=mask": ASINH}, "Unmasked store"),
    Mistake("the last block gets no program", {GRID: "x.numel() // BLOCK"}, "never written"),
    Mistake("the result is a vector whatever x's shape", {"torch.empty(x.shape,": "torch.empty(x.numel(),"},
            "shape"),
    Mistake("the result is always fp32", {"dtype=x.dtype, ": ""}, "dtype"),
    Mistake("the result overwrites x", {ALLOCATION: "y = x"}, "input"),
    Mistake("nothing is returned", {RETURN: "    y"}, "None"),
    Mistake("torch does the work of asinh", {"return elementwise(asinh_kernel, x)": "return torch.asinh(x)"},
            "torch", fails="honest"),
    Mistake("gelu_erf launches the kernel of asinh",
            {"elementwise(gelu_erf_kernel, x)": "elementwise(asinh_kernel, x)"}, "is right"),
    Mistake(
        "asinh of a large x is log(2 |x|), where 2 |x| may be Inf",
        {
            f"{ASINH}, mask": (
                f"tl.where(tl.abs(x) > 1e18, libdevice.copysign(tl.log(2.0 * tl.abs(x)), x), {ASINH}), mask"
            )
        },
        "is Inf. The result is finite",
        fails="edges",
    ),
]
