"""Day 04: what a grid-stride loop gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALLOCATION = "out = torch.empty_like(x)"
FIRST = "first = tl.program_id(0) * BLOCK"
GRID = "(num_programs,)"
MASK = "mask = offs < n  # the last block alone needs it"
RETURN = "    return out"
STORE = "tl.store(out_ptr + offs, alpha * x + y, mask=mask)"

# fmt: off
mistakes = [
    Mistake("the kernel is called like a function",
            {"axpy_kernel[(num_programs,)](alpha": "axpy_kernel(alpha"}, "axpy_kernel[grid](…)"),
    Mistake("one program is launched", {GRID: "(1,)"}, "launched where 5 are asked for"),
    Mistake("every program starts at the first block", {FIRST: "first = 0"}, "never written"),
    Mistake("the second axis of the grid is asked", {FIRST: "first = tl.program_id(1) * BLOCK"},
            "from 1024 on were never written"),
    Mistake("the store has no mask", {STORE: "tl.store(out_ptr + offs, alpha * x + y)"}, "Unmasked store"),
    Mistake("the load of x has no mask", {"tl.load(x_ptr + offs, mask=mask)": "tl.load(x_ptr + offs)"},
            "Unmasked load"),
    Mistake("the mask compares with the end of the jump, not of the vector",
            {MASK: "mask = offs < start + stride"}, "past the end"),
    Mistake("alpha is left out", {STORE: "tl.store(out_ptr + offs, x + y, mask=mask)"}, "is right"),
    Mistake("y is updated in place, as BLAS would", {ALLOCATION: "out = y"}, "input"),
    Mistake("nothing is returned", {RETURN: "    out"}, "returns nothing"),
    Mistake("torch scales x, the kernel adds",
            {"axpy_kernel[(num_programs,)](alpha, x,": "axpy_kernel[(num_programs,)](1.0, alpha * x,"},
            "torch did part of the work", fails="honest"),
]
