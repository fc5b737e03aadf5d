"""Day 13: what a softmax gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALLOCATION = "y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)"
BLOCK = "triton.next_power_of_2(n_cols)"
OTHER = 'other=-float("inf")'
QUOTIENT = "numerator / denominator"
RETURN = "    return y"

# fmt: off
mistakes = [
    Mistake("a masked lane holds 0, and the sum counts it", {OTHER: "other=0.0"}, "is right"),
    Mistake("a masked lane holds a merely small number", {OTHER: "other=-1e9"}, "is right", fails="edges"),
    Mistake("the exponentials of masked lanes are dropped, and 0 may still be the maximum",
            {OTHER: "other=0.0",
             "tl.sum(numerator, axis=0)": "tl.sum(tl.where(mask, numerator, 0.0), axis=0)"}, "is NaN",
            fails="edges"),
    Mistake("the load has no mask", {f", mask=mask, {OTHER})": ")"}, "Unmasked load"),
    Mistake("the store has no mask", {f"{QUOTIENT}, mask=mask": QUOTIENT}, "Unmasked store"),
    Mistake("no maximum is subtracted", {"x - tl.max(x, axis=0)": "x"}, "maximum", fails="edges"),
    Mistake("rows are taken to be n_cols apart", {"pid_m * stride_xm": "pid_m * n_cols"}, "stride",
            fails="edges"),
    Mistake("every program writes row 0", {"y_ptr + pid_m * n_cols": "y_ptr"}, "never written"),
    Mistake("the block is no power of two", {BLOCK: "n_cols"}, "power of 2"),
    Mistake("the numerators are not divided by their sum", {QUOTIENT: "numerator"}, "sum"),
    Mistake("the numerators are rounded to fp16 before the sum",
            {"tl.sum(numerator, axis=0)": "tl.sum(numerator.to(tl.float16), axis=0)"}, "precision"),
    Mistake("x is rounded to fp16 first", {"x.to(tl.float32)": "x.to(tl.float16)"},
            "close but not close enough"),
    Mistake("the result is always fp32", {"dtype=x.dtype, ": ""}, "dtype"),
    Mistake("the result is allocated once for each shape and kept",
            {ALLOCATION: ALLOCATION.replace("= ", "= globals().setdefault(f'y{x.shape}{x.dtype}', ") + ")"},
            "earlier call", fails="edges"),
    Mistake("the result overwrites x", {ALLOCATION: "y = x"}, "input"),
    Mistake("nothing is returned", {RETURN: "    y"}, "returns nothing"),
    Mistake("torch does the work", {RETURN: "    return torch.softmax(x, dim=-1)"}, "torch", fails="honest"),
    Mistake("offsets are counted in 32 bits", {"tl.program_id(0).to(tl.int64)": "tl.program_id(0)"},
            "in int32", fails="limit"),
    Mistake("exp2 in the place of exp", {"tl.exp(": "tl.exp2("}, "multiply by log2(e) first"),
    Mistake("tl.softmax does the work", {QUOTIENT: "tl.softmax(x)"}, "does today's work for you",
            fails="honest"),
    Mistake("the logarithm of the softmax", {QUOTIENT: "tl.log(numerator / denominator)"}, "the logarithms"),
    Mistake("rows whose distance suits a descriptor are taken for packed",
            {"n_cols, x.stride(0)": "n_cols, x.stride(0) - 8 * (x.stride(0) == n_cols + 8)"},
            "loads from a gap between", fails="edges"),
]
