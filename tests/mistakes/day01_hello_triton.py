"""Day 01: what a first kernel gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ALLOCATION = "y = torch.empty_like(x)"
COMPUTE = "y = 2 * x + 1"
STORE = "tl.store(y_ptr + offs, y)"
RETURN = "    return y"

mistakes = [
    Mistake("x itself is returned", swap={RETURN: "    return x"}, fails="correct", says="input"),
    Mistake("the result is written into x", swap={ALLOCATION: "y = x"}, fails="correct", says="input"),
    Mistake(
        "the kernel stores through x_ptr",
        swap={STORE: "tl.store(x_ptr + offs, y)"},
        fails="correct",
        says="changed its input",
    ),
    Mistake("the one is never added", swap={COMPUTE: "y = 2 * x"}, fails="correct", says="off by"),
    Mistake("the one is doubled too", swap={COMPUTE: "y = 2 * (x + 1)"}, fails="correct", says="off by"),
    Mistake(
        "the result is always fp32",
        swap={ALLOCATION: "y = torch.empty(x.shape, device=x.device)"},
        fails="correct",
        says="dtype",
    ),
    Mistake(
        "one element is computed, not a block",
        swap={"offs = tl.arange(0, BLOCK)": "offs = tl.arange(0, 1)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the block is half the vector",
        swap={"BLOCK=x.numel()": "BLOCK=max(x.numel() // 2, 1)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the block is always 1024",
        swap={"BLOCK=x.numel()": "BLOCK=1024"},
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "the result lands one element late",
        swap={STORE: "tl.store(y_ptr + 1 + offs, y)"},
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "BLOCK is not a constexpr", swap={"BLOCK: tl.constexpr": "BLOCK"}, fails="correct", says="constexpr"
    ),
    Mistake(
        "x is loaded without offsets",
        swap={"tl.load(x_ptr + offs)": "tl.load(x_ptr)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the pointer is indexed",
        swap={"tl.load(x_ptr + offs)": "x_ptr[offs]"},
        fails="correct",
        says="tl.load(x_ptr + offs) reads where it points",
    ),
    Mistake("nothing is returned", swap={RETURN: "    y"}, fails="correct", says="returns nothing"),
    Mistake("torch does the work", swap={RETURN: "    return 2 * x + 1"}, fails="honest", says="torch"),
]
