"""Day 02: what pointer arithmetic gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ALLOCATION = "y = torch.empty(count, dtype=x.dtype, device=x.device)"
INDEX = "index = start + offs * step"
LOAD = "tl.load(x_ptr + index * stride_x)"
RETURN = "    return y"
STORE = "tl.store(y_ptr + offs, x)"

mistakes = [
    Mistake(
        "offsets are counted in bytes",
        swap={LOAD: "tl.load(x_ptr + index * stride_x * 4)"},
        fails="correct",
        says="past the end of",
    ),
    Mistake("start is ignored", swap={INDEX: "index = offs * step"}, fails="correct", says="is right"),
    Mistake("step is ignored", swap={INDEX: "index = start + offs"}, fails="correct", says="is right"),
    Mistake(
        "start is multiplied by the step",
        swap={INDEX: "index = (start + offs) * step"},
        fails="correct",
        says="past the end of x",
    ),
    Mistake(
        "a negative step walks up",
        swap={INDEX: "index = start + offs * tl.abs(step)"},
        fails="correct",
        says="past the end of x",
    ),
    Mistake(
        "x is taken to be contiguous", swap={LOAD: "tl.load(x_ptr + index)"}, fails="edges", says="stride"
    ),
    Mistake(
        "the stride scales the step but not the start",
        swap={LOAD: "tl.load(x_ptr + start + offs * step * stride_x)"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "y is written with x's stride",
        swap={STORE: "tl.store(y_ptr + offs * stride_x, x)"},
        fails="edges",
        says="strides of an input",
    ),
    Mistake(
        "the results land where they came from",
        swap={STORE: "tl.store(y_ptr + index, x)"},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake(
        "one element is gathered, not a block",
        swap={"offs = tl.arange(0, BLOCK)": "offs = tl.arange(0, 1)"},
        fails="correct",
        says="never written",
    ),
    Mistake("y is as long as x", swap={ALLOCATION: "y = torch.empty_like(x)"}, fails="correct", says="shape"),
    Mistake("y is always fp32", swap={"dtype=x.dtype, ": ""}, fails="correct", says="dtype"),
    Mistake(
        "the values pass through fp32",
        swap={LOAD: "tl.load(x_ptr + index * stride_x).to(tl.float32)"},
        fails="correct",
        says="Every element is a number of",
    ),
    Mistake("a view of x is returned", swap={RETURN: "    return x[:count]"}, fails="correct", says="input"),
    Mistake("nothing is returned", swap={RETURN: "    y"}, fails="correct", says="returns nothing"),
    Mistake(
        "torch does the work",
        swap={RETURN: "    return x[start + step * torch.arange(count, device=x.device)]"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "torch makes x contiguous first",
        swap={"x, y, start, step, x.stride(0)": "x.contiguous(), y, start, step, 1"},
        fails="honest",
        says="torch copied",
    ),
    Mistake(
        "lanes are masked by x's length",
        swap={
            LOAD: "tl.load(x_ptr + index * stride_x, mask=offs < n)",
            "stride_x, BLOCK": "stride_x, n, BLOCK",
            "x.stride(0), BLOCK": "x.stride(0), x.numel(), BLOCK",
        },
        fails="edges",
        says="is right",
    ),
]
