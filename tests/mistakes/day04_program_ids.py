"""Day 04: what a grid-stride loop gets wrong, and what the grader must say about it."""

from __future__ import annotations

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
        swap={"axpy_kernel[(num_programs,)](alpha": "axpy_kernel(alpha"},
        fails="correct",
        says="axpy_kernel[grid](…)",
    ),
    Mistake(
        "as many programs as blocks are launched",
        swap={GRID: "(triton.cdiv(x.numel(), 1024),)"},
        fails="correct",
        says="launched where 5 are asked for",
    ),
    Mistake(
        "no more programs than blocks are launched",
        swap={GRID: "(min(num_programs, max(triton.cdiv(x.numel(), 1024), 1)),)"},
        fails="correct",
        says="launched where 5 are asked for",
    ),
    Mistake(
        "one program is launched", swap={GRID: "(1,)"}, fails="correct", says="launched where 5 are asked for"
    ),
    Mistake(
        "each program takes one block and stops",
        swap={LOOP: "for start in range(first, first + BLOCK, BLOCK):"},
        fails="correct",
        says="never written",
        on_gpu="never written",
    ),
    Mistake(
        "every program starts at the first block",
        swap={FIRST: "first = 0"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "a program starts at its number, not at its block",
        swap={FIRST: "first = tl.program_id(0)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the second axis of the grid is asked",
        swap={FIRST: "first = tl.program_id(1) * BLOCK"},
        fails="correct",
        says="from 1024 on were never written",
    ),
    Mistake(
        "the jump is right for four programs alone",
        swap={STRIDE: "stride = 4 * BLOCK"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the jump leaves one block out",
        swap={STRIDE: "stride = (tl.num_programs(0) + 1) * BLOCK"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "only whole blocks are done",
        swap={LOOP: "for start in range(first, n - BLOCK + 1, stride):"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the rounds are counted, and the count is rounded down",
        swap={
            LOOP: "for r in range(0, n // stride):",
            OFFSETS: "offs = first + r * stride + tl.arange(0, BLOCK)",
        },
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the offsets do not move with the loop",
        swap={OFFSETS: "offs = first + tl.arange(0, BLOCK)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the store has no mask",
        swap={STORE: "tl.store(out_ptr + offs, alpha * x + y)"},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake(
        "the load of x has no mask",
        swap={"tl.load(x_ptr + offs, mask=mask)": "tl.load(x_ptr + offs)"},
        fails="correct",
        says="Unmasked load",
    ),
    Mistake(
        "the mask compares with the end of the jump, not of the vector",
        swap={MASK: "mask = offs < start + stride"},
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "alpha multiplies the sum",
        swap={STORE: "tl.store(out_ptr + offs, alpha * (x + y), mask=mask)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "alpha multiplies y",
        swap={STORE: "tl.store(out_ptr + offs, x + alpha * y, mask=mask)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "alpha is left out",
        swap={STORE: "tl.store(out_ptr + offs, x + y, mask=mask)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "y is updated in place, as BLAS would", swap={ALLOCATION: "out = y"}, fails="correct", says="input"
    ),
    Mistake("nothing is returned", swap={RETURN: "    out"}, fails="correct", says="returns nothing"),
    Mistake(
        "torch scales x, the kernel adds",
        swap={"axpy_kernel[(num_programs,)](alpha, x,": "axpy_kernel[(num_programs,)](1.0, alpha * x,"},
        fails="honest",
        says="torch did part of the work",
    ),
]
