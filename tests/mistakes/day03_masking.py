"""Day 03: what masks get wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALLOCATION = "y = torch.empty_like(x)"
BLOCK = "triton.next_power_of_2(max(n, 1))"
BOUNDS = "(source >= 0) & (source < n)"
OTHER = ", other=fill"
RETURN = "    return y"
SOURCE = "source = offs + k"
STORE = "tl.store(y_ptr + offs, x, mask=offs < n)"

# fmt: off
mistakes = [
    Mistake("the store has no mask", {STORE: "tl.store(y_ptr + offs, x)"}, "Unmasked store"),
    Mistake("the load has no mask", {f", mask={BOUNDS}{OTHER}": ""}, "Unmasked load"),
    Mistake("only the upper bound is checked", {BOUNDS: "source < n"}, "before the start of x"),
    Mistake("only the lower bound is checked", {BOUNDS: "source >= 0"}, "past the end of x"),
    Mistake("the load is masked by lane, not by the element it wants", {BOUNDS: "offs < n"},
            "every lane through"),
    Mistake("the upper bound is one too high", {"source < n": "source <= n"}, "1 element past the end of x"),
    Mistake("the lower bound is one too high", {"source >= 0": "source > 0"}, "is right"),
    Mistake("the bounds are chained as in Python", {BOUNDS: "0 <= source < n"},
            "takes no chained comparison"),
    Mistake("k is subtracted", {SOURCE: "source = offs - k"}, "moves the other way"),
    Mistake("the vector wraps around", {SOURCE: "source = (offs + k + n) % n"}, "wraps around"),
    Mistake("only lanes with an element of x are stored",
            {STORE: f"tl.store(y_ptr + offs, x, mask=(offs < n) & {BOUNDS})"}, "never written"),
    Mistake("the block is no power of two", {BLOCK: "max(n, 1)"}, "power of 2"),
    Mistake("the block is always 1024", {BLOCK: "1024"}, "Elements from 1024 on"),
    Mistake("a vector of length 0 gets a block of 0", {"max(n, 1)": "n"}, "arange"),
    Mistake("y is always fp32", {ALLOCATION: "y = torch.empty(n, device=x.device)"}, "dtype"),
    Mistake("y is x", {ALLOCATION: "y = x"}, "input"),
    Mistake("nothing is returned", {RETURN: "    y"}, "returns nothing"),
    Mistake("torch rolls, the kernel fills",
            {"shift_kernel[(1,)](x, y,": "shift_kernel[(1,)](torch.roll(x, 0), y,"}, "torch", fails="honest"),
]
