"""Day 03: what masks get wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ALLOCATION = "y = torch.empty_like(x)"
BLOCK = "triton.next_power_of_2(max(n, 1))"
BOUNDS = "(source >= 0) & (source < n)"
OTHER = ", other=fill"
RETURN = "    return y"
SOURCE = "source = offs + k"
STORE = "tl.store(y_ptr + offs, x, mask=offs < n)"

mistakes = [
    Mistake(
        "the store has no mask",
        swap={STORE: "tl.store(y_ptr + offs, x)"},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake(
        "the load has no mask",
        swap={f", mask={BOUNDS}{OTHER}": ""},
        fails="correct",
        says="Unmasked load",
    ),
    Mistake(
        "only the upper bound is checked",
        swap={BOUNDS: "source < n"},
        fails="correct",
        says="before the start of x",
    ),
    Mistake(
        "only the lower bound is checked",
        swap={BOUNDS: "source >= 0"},
        fails="correct",
        says="past the end of x",
    ),
    Mistake(
        "the load is masked by lane, not by the element it wants",
        swap={BOUNDS: "offs < n"},
        fails="correct",
        says="every lane through",
    ),
    Mistake(
        "the upper bound is one too high",
        swap={"source < n": "source <= n"},
        fails="correct",
        says="1 element past the end of x",
    ),
    Mistake(
        "the lower bound is one too high",
        swap={"source >= 0": "source > 0"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the bounds are chained as in Python",
        swap={BOUNDS: "0 <= source < n"},
        fails="correct",
        says="takes no chained comparison",
    ),
    Mistake("other= is left out", swap={OTHER: ""}, fails="correct", says="is right"),
    Mistake("other= is 0", swap={OTHER: ", other=0.0"}, fails="correct", says="is right"),
    Mistake(
        "k is subtracted", swap={SOURCE: "source = offs - k"}, fails="correct", says="moves the other way"
    ),
    Mistake("k is ignored", swap={SOURCE: "source = offs"}, fails="correct", says="is right"),
    Mistake(
        "the index is clamped, so the ends repeat",
        swap={SOURCE: "source = tl.minimum(tl.maximum(offs + k, 0), n - 1)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the vector wraps around",
        swap={SOURCE: "source = (offs + k + n) % n"},
        fails="correct",
        says="wraps around",
    ),
    Mistake(
        "only lanes with an element of x are stored",
        swap={STORE: f"tl.store(y_ptr + offs, x, mask=(offs < n) & {BOUNDS})"},
        fails="correct",
        says="never written",
    ),
    Mistake("the block is no power of two", swap={BLOCK: "max(n, 1)"}, fails="correct", says="power of 2"),
    Mistake("the block is always 1024", swap={BLOCK: "1024"}, fails="correct", says="Elements from 1024 on"),
    Mistake(
        "a vector of length 0 gets a block of 0", swap={"max(n, 1)": "n"}, fails="correct", says="arange"
    ),
    Mistake(
        "y is always fp32",
        swap={ALLOCATION: "y = torch.empty(n, device=x.device)"},
        fails="correct",
        says="dtype",
    ),
    Mistake("y is x", swap={ALLOCATION: "y = x"}, fails="correct", says="input"),
    Mistake("nothing is returned", swap={RETURN: "    y"}, fails="correct", says="returns nothing"),
    Mistake(
        "torch rolls, the kernel fills",
        swap={"shift_kernel[(1,)](x, y,": "shift_kernel[(1,)](torch.roll(x, 0), y,"},
        fails="honest",
        says="torch",
    ),
]
