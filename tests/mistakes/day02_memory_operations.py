"""Day 02: what pointer arithmetic gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALLOCATION = "y = torch.empty(count, dtype=x.dtype, device=x.device)"
INDEX = "index = start + offs * step"
LOAD = "tl.load(x_ptr + index * stride_x)"
RETURN = "    return y"
STORE = "tl.store(y_ptr + offs, x)"

# fmt: off
mistakes = [
    Mistake("offsets are counted in bytes", {LOAD: "tl.load(x_ptr + index * stride_x * 4)"},
            "past the end of"),
    Mistake("start is ignored", {INDEX: "index = offs * step"}, "is right"),
    Mistake("start is multiplied by the step", {INDEX: "index = (start + offs) * step"}, "past the end of x"),
    Mistake("x is taken to be contiguous", {LOAD: "tl.load(x_ptr + index)"}, "stride", fails="edges"),
    Mistake("y is written with x's stride", {STORE: "tl.store(y_ptr + offs * stride_x, x)"},
            "strides of an input", fails="edges"),
    Mistake("the results land where they came from", {STORE: "tl.store(y_ptr + index, x)"}, "Unmasked store"),
    Mistake("one element is gathered, not a block", {"offs = tl.arange(0, BLOCK)": "offs = tl.arange(0, 1)"},
            "never written"),
    Mistake("y is as long as x", {ALLOCATION: "y = torch.empty_like(x)"}, "shape"),
    Mistake("y is always fp32", {"dtype=x.dtype, ": ""}, "dtype"),
    Mistake("the values pass through fp32", {LOAD: "tl.load(x_ptr + index * stride_x).to(tl.float32)"},
            "Every element is a number of"),
    Mistake("a view of x is returned", {RETURN: "    return x[:count]"}, "input"),
    Mistake("nothing is returned", {RETURN: "    y"}, "returns nothing"),
    Mistake("torch does the work",
            {RETURN: "    return x[start + step * torch.arange(count, device=x.device)]"}, "torch",
            fails="honest"),
    Mistake("torch makes x contiguous first",
            {"x, y, start, step, x.stride(0)": "x.contiguous(), y, start, step, 1"}, "torch copied",
            fails="honest"),
    Mistake("lanes are masked by x's length",
            {LOAD: "tl.load(x_ptr + index * stride_x, mask=offs < n)",
             "stride_x, BLOCK": "stride_x, n, BLOCK", "x.stride(0), BLOCK": "x.stride(0), x.numel(), BLOCK"},
            "is right", fails="edges"),
]
