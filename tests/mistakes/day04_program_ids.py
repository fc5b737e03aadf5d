"""Day 04: what a grid-stride loop gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALLOCATION = "out = torch.empty_like(x)"
FIRST = "first = tl.program_id(0) * BLOCK"
GRID = "(num_programs,)"
LOOP = "for start in range(first, n, stride):"
MASK = "mask = offs < n  # the last block alone needs it"
OFFSETS = "offs = start + tl.arange(0, BLOCK)"
RETURN = "    return out"
STORE = "tl.store(out_ptr + offs, alpha * x + y, mask=mask)"
STRIDE = "stride = tl.num_programs(0) * BLOCK"

mistakes = [
    Mistake(
        "the kernel is called like a function",
        {"axpy_kernel[(num_programs,)](alpha": "axpy_kernel(alpha"},
        "axpy_kernel[grid](…)",
    ),
    Mistake(
        "as many programs as blocks are launched",
        {GRID: "(triton.cdiv(x.numel(), 1024),)"},
        "launched where 5 are asked for",
    ),
    Mistake(
        "no more programs than blocks are launched",
        {GRID: "(min(num_programs, max(triton.cdiv(x.numel(), 1024), 1)),)"},
        "launched where 5 are asked for",
    ),
    Mistake("one program is launched", {GRID: "(1,)"}, "launched where 5 are asked for"),
    Mistake(
        "each program takes one block and stops",
        {LOOP: "for start in range(first, first + BLOCK, BLOCK):"},
        "never written",
        on_gpu="never written",
    ),
    Mistake("every program starts at the first block", {FIRST: "first = 0"}, "never written"),
    Mistake(
        "a program starts at its number, not at its block",
        {FIRST: "first = tl.program_id(0)"},
        "never written",
    ),
    Mistake(
        "the second axis of the grid is asked",
        {FIRST: "first = tl.program_id(1) * BLOCK"},
        "from 1024 on were never written",
    ),
    Mistake("the jump is right for four programs alone", {STRIDE: "stride = 4 * BLOCK"}, "never written"),
    Mistake(
        "the jump leaves one block out",
        {STRIDE: "stride = (tl.num_programs(0) + 1) * BLOCK"},
        "never written",
    ),
    Mistake(
        "only whole blocks are done",
        {LOOP: "for start in range(first, n - BLOCK + 1, stride):"},
        "never written",
    ),
    Mistake(
        "the rounds are counted, and the count is rounded down",
        {LOOP: "for r in range(0, n // stride):", OFFSETS: "offs = first + r * stride + tl.arange(0, BLOCK)"},
        "never written",
    ),
    Mistake(
        "the offsets do not move with the loop",
        {OFFSETS: "offs = first + tl.arange(0, BLOCK)"},
        "never written",
    ),
    Mistake("the store has no mask", {STORE: "tl.store(out_ptr + offs, alpha * x + y)"}, "Unmasked store"),
    Mistake(
        "the load of x has no mask",
        {"tl.load(x_ptr + offs, mask=mask)": "tl.load(x_ptr + offs)"},
        "Unmasked load",
    ),
    Mistake(
        "the mask compares with the end of the jump, not of the vector",
        {MASK: "mask = offs < start + stride"},
        "past the end",
    ),
    Mistake(
        "alpha multiplies the sum",
        {STORE: "tl.store(out_ptr + offs, alpha * (x + y), mask=mask)"},
        "is right",
    ),
    Mistake("alpha multiplies y", {STORE: "tl.store(out_ptr + offs, x + alpha * y, mask=mask)"}, "is right"),
    Mistake("alpha is left out", {STORE: "tl.store(out_ptr + offs, x + y, mask=mask)"}, "is right"),
    Mistake("y is updated in place, as BLAS would", {ALLOCATION: "out = y"}, "input"),
    Mistake("nothing is returned", {RETURN: "    out"}, "returns nothing"),
    Mistake(
        "torch scales x, the kernel adds",
        {"axpy_kernel[(num_programs,)](alpha, x,": "axpy_kernel[(num_programs,)](1.0, alpha * x,"},
        "torch did part of the work",
        fails="honest",
    ),
]
