"""Day 01: what a first kernel gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALLOCATION = "y = torch.empty_like(x)"
COMPUTE = "y = 2 * x + 1"
STORE = "tl.store(y_ptr + offs, y)"
RETURN = "    return y"

# fmt: off
mistakes = [
    Mistake("x itself is returned", {RETURN: "    return x"}, "input"),
    Mistake("the kernel stores through x_ptr", {STORE: "tl.store(x_ptr + offs, y)"}, "changed its input"),
    Mistake("the one is never added", {COMPUTE: "y = 2 * x"}, "off by"),
    Mistake("the result is always fp32", {ALLOCATION: "y = torch.empty(x.shape, device=x.device)"}, "dtype"),
    Mistake("the block is half the vector", {"BLOCK=x.numel()": "BLOCK=max(x.numel() // 2, 1)"},
            "never written"),
    Mistake("the block is always 1024", {"BLOCK=x.numel()": "BLOCK=1024"}, "past the end"),
    Mistake("BLOCK is not a constexpr", {"BLOCK: tl.constexpr": "BLOCK"}, "constexpr"),
    Mistake("x is loaded without offsets", {"tl.load(x_ptr + offs)": "tl.load(x_ptr)"}, "is right"),
    Mistake("the pointer is indexed", {"tl.load(x_ptr + offs)": "x_ptr[offs]"},
            "tl.load(x_ptr + offs) reads where it points"),
    Mistake("nothing is returned", {RETURN: "    y"}, "returns nothing"),
    Mistake("torch does the work", {RETURN: "    return 2 * x + 1"}, "torch", fails="honest"),
]
