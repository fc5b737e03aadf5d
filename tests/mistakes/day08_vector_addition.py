"""Day 08: what a vector addition gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ALLOCATION = "out = torch.empty(n, dtype=torch.promote_types(x.dtype, y.dtype), device=x.device)"
OFFSETS = "offs = pid * BLOCK + tl.arange(0, BLOCK)"
RETURN = "    return out"
STORE = "tl.store(out_ptr + offs, x + y, mask=mask)"

mistakes = [
    Mistake(
        "the last, partial block gets no program",
        swap={"triton.cdiv(n, BLOCK)": "n // BLOCK"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the mask ends one element early",
        swap={"offs < n": "offs < n - 1"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "every program takes block 0",
        swap={OFFSETS: "offs = tl.arange(0, BLOCK)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "blocks overlap by half",
        swap={OFFSETS: "offs = pid * (BLOCK // 2) + tl.arange(0, BLOCK)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the store has no mask",
        swap={STORE: "tl.store(out_ptr + offs, x + y)"},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake("x is taken to be contiguous", swap={"offs * stride_x": "offs"}, fails="edges", says="stride"),
    Mistake(
        "y is read with x's stride",
        swap={"offs * stride_y": "offs * stride_x"},
        fails="edges",
        says="past the end of",
    ),
    Mistake(
        "the result has x's dtype, whatever y's is",
        swap={"torch.promote_types(x.dtype, y.dtype)": "x.dtype"},
        fails="correct",
        says="dtype",
    ),
    Mistake(
        "an fp32 y is rounded to x's fp16 first",
        swap={STORE: "tl.store(out_ptr + offs, x + y.to(x.dtype), mask=mask)"},
        fails="correct",
        says="it is computed in fp16",
    ),
    Mistake("the sum is written into x", swap={ALLOCATION: "out = x"}, fails="correct", says="input"),
    Mistake("nothing is returned", swap={RETURN: "    out"}, fails="correct", says="returns nothing"),
    Mistake("torch does the work", swap={RETURN: "    return x + y"}, fails="honest", says="torch"),
    Mistake(
        "torch copies strided vectors first",
        swap={"n = x.numel()": "n, x, y = x.numel(), x.contiguous(), y.contiguous()"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "offsets are counted in 32 bits",
        swap={"tl.program_id(0).to(tl.int64)": "tl.program_id(0)"},
        fails="edges",
        says="int32",
    ),
    Mistake(
        "64 bits are taken by the number of elements alone, not by the strides",
        swap={
            "pid = tl.program_id(0).to(tl.int64)": (
                "pid = tl.program_id(0)\n    pid = pid.to(tl.int64) if WIDE else pid"
            ),
            "stride_y, BLOCK: tl.constexpr": "stride_y, BLOCK: tl.constexpr, WIDE: tl.constexpr",
            "BLOCK=BLOCK)": "BLOCK=BLOCK, WIDE=n > 2_000_000_000)",
        },
        fails="edges",
        says="2³¹",
    ),
]
