"""Day 13: what a softmax gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ALLOCATION = "y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)"
BLOCK = "triton.next_power_of_2(n_cols)"
OTHER = 'other=-float("inf")'
QUOTIENT = "numerator / denominator"
RETURN = "    return y"

mistakes = [
    Mistake(
        "a masked lane holds 0, and the sum counts it",
        swap={OTHER: "other=0.0"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "a masked lane holds a merely small number",
        swap={OTHER: "other=-1e9"},
        fails="edges",
        says="is right",
    ),
    Mistake(
        "the exponentials of masked lanes are dropped, and 0 may still be the maximum",
        swap={
            OTHER: "other=0.0",
            "tl.sum(numerator, axis=0)": "tl.sum(tl.where(mask, numerator, 0.0), axis=0)",
        },
        fails="edges",
        says="is NaN",
    ),
    Mistake(
        "the load has no mask", swap={f", mask=mask, {OTHER})": ")"}, fails="correct", says="Unmasked load"
    ),
    Mistake(
        "the store has no mask",
        swap={f"{QUOTIENT}, mask=mask": QUOTIENT},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake("no maximum is subtracted", swap={"x - tl.max(x, axis=0)": "x"}, fails="edges", says="maximum"),
    Mistake(
        "rows are taken to be n_cols apart",
        swap={"pid_m * stride_xm": "pid_m * n_cols"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "y is written with x's row stride",
        swap={"pid_m * n_cols": "pid_m * stride_xm"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "every program reads row 0",
        swap={"x_ptr + pid_m * stride_xm": "x_ptr"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "every program writes row 0",
        swap={"y_ptr + pid_m * n_cols": "y_ptr"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "half of the rows get no program",
        swap={"(n_rows,)": "(n_rows // 2,)"},
        fails="correct",
        says="never written",
    ),
    Mistake("columns past 1024 are left out", swap={BLOCK: "1024"}, fails="correct", says="never written"),
    Mistake("the block is no power of two", swap={BLOCK: "n_cols"}, fails="correct", says="power of 2"),
    Mistake(
        "the numerators are not divided by their sum",
        swap={QUOTIENT: "numerator"},
        fails="correct",
        says="sum",
    ),
    Mistake(
        "the numerators are rounded to fp16 before the sum",
        swap={"tl.sum(numerator, axis=0)": "tl.sum(numerator.to(tl.float16), axis=0)"},
        fails="correct",
        says="precision",
    ),
    Mistake(
        "x is rounded to fp16 first",
        swap={"x.to(tl.float32)": "x.to(tl.float16)"},
        fails="correct",
        says="close but not close enough",
    ),
    Mistake("the result is always fp32", swap={"dtype=x.dtype, ": ""}, fails="correct", says="dtype"),
    Mistake(
        "the result is allocated once for each shape and kept",
        swap={ALLOCATION: ALLOCATION.replace("= ", "= globals().setdefault(f'y{x.shape}{x.dtype}', ") + ")"},
        fails="edges",
        says="earlier call",
    ),
    Mistake("the result overwrites x", swap={ALLOCATION: "y = x"}, fails="correct", says="input"),
    Mistake("nothing is returned", swap={RETURN: "    y"}, fails="correct", says="returns nothing"),
    Mistake(
        "torch does the work",
        swap={RETURN: "    return torch.softmax(x, dim=-1)"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "a tl.where at the end hides the NaN of a row that is all -inf",
        swap={
            "numerator = tl.exp(x - tl.max(x, axis=0))": "top = tl.max(x, axis=0)\n"
            "    top = tl.where(top == -float('inf'), 0.0, top)\n    numerator = tl.exp(x - top)",
            QUOTIENT: "tl.where(denominator > 0, numerator / denominator, 0.0)",
        },
        fails="edges",
        says="is right",
    ),
    Mistake(
        "offsets are counted in 32 bits",
        swap={"tl.program_id(0).to(tl.int64)": "tl.program_id(0)"},
        fails="limit",
        says="in int32",
    ),
    Mistake(
        "exp2 in the place of exp",
        swap={"tl.exp(": "tl.exp2("},
        fails="correct",
        says="multiply by log2(e) first",
    ),
    Mistake(
        "the logarithm of the softmax",
        swap={QUOTIENT: "tl.log(numerator / denominator)"},
        fails="correct",
        says="the logarithms",
    ),
    Mistake(
        "rows whose distance suits a descriptor are taken for packed",
        swap={"n_cols, x.stride(0)": "n_cols, x.stride(0) - 8 * (x.stride(0) == n_cols + 8)"},
        fails="edges",
        says="loads from a gap between",
    ),
]
