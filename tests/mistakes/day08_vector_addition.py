"""Day 08: what a vector addition gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALLOCATION = "out = torch.empty(n, dtype=torch.promote_types(x.dtype, y.dtype), device=x.device)"
RETURN = "    return out"
STORE = "tl.store(out_ptr + offs, x + y, mask=mask)"

# fmt: off
mistakes = [
    Mistake("the last, partial block gets no program", {"triton.cdiv(n, BLOCK)": "n // BLOCK"},
            "never written"),
    Mistake("the store has no mask", {STORE: "tl.store(out_ptr + offs, x + y)"}, "Unmasked store"),
    Mistake("x is taken to be contiguous", {"offs * stride_x": "offs"}, "stride", fails="edges"),
    Mistake("y is read with x's stride", {"offs * stride_y": "offs * stride_x"}, "past the end of",
            fails="edges"),
    Mistake("the result has x's dtype, whatever y's is", {"torch.promote_types(x.dtype, y.dtype)": "x.dtype"},
            "dtype"),
    Mistake("an fp32 y is rounded to x's fp16 first",
            {STORE: "tl.store(out_ptr + offs, x + y.to(x.dtype), mask=mask)"}, "it is computed in fp16"),
    Mistake("the sum is written into x", {ALLOCATION: "out = x"}, "input"),
    Mistake("nothing is returned", {RETURN: "    out"}, "returns nothing"),
    Mistake("torch does the work", {RETURN: "    return x + y"}, "torch", fails="honest"),
    Mistake("offsets are counted in 32 bits", {"tl.program_id(0).to(tl.int64)": "tl.program_id(0)"}, "int32",
            fails="edges"),
    Mistake(
        "64 bits are taken by the number of elements alone, not by the strides",
        {
            "pid = tl.program_id(0).to(tl.int64)": (
                "pid = tl.program_id(0)\n    pid = pid.to(tl.int64) if WIDE else pid"
            ),
            "stride_y, BLOCK: tl.constexpr": "stride_y, BLOCK: tl.constexpr, WIDE: tl.constexpr",
            "BLOCK=BLOCK)": "BLOCK=BLOCK, WIDE=n > 2_000_000_000)",
        },
        "2³¹",
        fails="edges",
    ),
]
