"""Day 12: what a logsumexp gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

FIRST_LOAD = 'other=-float("inf"))\n    first'
SUM_LOAD = 'other=-float("inf"))\n        l_i'
RESULT = "tl.log(total) + shift"
RETURN = "    return y"
SHIFT = 'tl.where(tl.abs(m) == float("inf"), 0.0, m)'

# From the first block's maximum on in one walk; rows of -inf alone are seen to at the end.
TWO_WALKS = """\
    m_i = first
    for start in range(BLOCK_N, n_cols, BLOCK_N):
        mask = start + offs_n < n_cols
        x = tl.load(x_row_ptr + start + offs_n, mask=mask, other=-float("inf"))
        m_i = tl.maximum(m_i, x.to(tl.float32))
    m = tl.max(m_i, axis=0)
    # inf - inf is NaN. A row whose maximum is infinite needs no shift: log(0) and log(inf) are its answers.
    shift = tl.where(tl.abs(m) == float("inf"), 0.0, m)
    # Second walk. The first block is still in registers, so up to BLOCK_N columns are read once; the others
    # were read a moment ago, and come from cache and not from HBM.
    l_i = tl.exp(first - shift)
    for start in range(BLOCK_N, n_cols, BLOCK_N):
        mask = start + offs_n < n_cols
        x = tl.load(x_row_ptr + start + offs_n, mask=mask, other=-float("inf"))
        l_i += tl.exp(x.to(tl.float32) - shift)
    total = tl.sum(l_i, axis=0)
"""
ONE_WALK = """\
    m = tl.max(first, axis=0)
    total = tl.sum(tl.exp(first - m), axis=0)
    for start in range(BLOCK_N, n_cols, BLOCK_N):
        x = tl.load(x_row_ptr + start + offs_n, mask=start + offs_n < n_cols, other=-float("inf"))
        m_new = tl.maximum(m, tl.max(x.to(tl.float32), axis=0))
        total = total * tl.exp(m - m_new) + tl.sum(tl.exp(x.to(tl.float32) - m_new), axis=0)
        m = m_new
    total = tl.where(tl.abs(m) == float("inf"), 1.0, total)
    shift = m
"""

# fmt: off
mistakes = [
    Mistake("no maximum is subtracted", {SHIFT: "0.0"}, "maximum", fails="edges"),
    Mistake("a row of -inf meets -inf - (-inf)", {SHIFT: "m"}, "(-inf) - (-inf)", fails="edges"),
    Mistake("only -inf is kept from itself, not +inf", {"tl.abs(m) == float": "m == -float"}, "Inf - Inf",
            fails="edges"),
    Mistake("the maximum starts at 0", {"m_i = first": "m_i = tl.maximum(first, 0.0)"}, "is -inf",
            fails="edges"),
    Mistake("a masked lane holds 0, and the sum counts its exponential",
            {FIRST_LOAD: "other=0.0)\n    first", SUM_LOAD: "other=0.0)\n        l_i"}, "is right"),
    Mistake("the load of the first walk has no mask", {f"mask=offs_n < n_cols, {FIRST_LOAD}": ")\n    first"},
            "Unmasked load"),
    Mistake("the maximum is added, and was never subtracted",
            {"exp(x.to(tl.float32) - shift)": "exp(x.to(tl.float32))", "exp(first - shift)": "exp(first)"},
            "not subtracted"),
    Mistake("the maximum is not added back", {RESULT: "tl.log(total)"}, "added back"),
    Mistake("the maximum is added before the logarithm", {RESULT: "tl.log(total + shift)"},
            "inside the logarithm"),
    Mistake("the logarithm is in base 2", {RESULT: "tl.log2(total) + shift"}, "base 2"),
    Mistake("the maximum is subtracted in half precision",
            {"tl.exp(first - shift)": "tl.exp((first.to(tl.float16) - shift.to(tl.float16)).to(tl.float32))"},
            "precision"),
    Mistake("the result has x's dtype", {"dtype=torch.float32": "dtype=x.dtype"}, "dtype"),
    Mistake("rows are taken to be n_cols apart", {"pid_m * stride_xm": "pid_m * n_cols"}, "stride",
            fails="edges"),
    Mistake("every program reads row 0", {"x_ptr + pid_m * stride_xm": "x_ptr"}, "same row"),
    Mistake("every program writes element 0", {"y_ptr + pid_m": "y_ptr"}, "never written"),
    Mistake("results are stored two apart", {"y_ptr + pid_m": "y_ptr + 2 * pid_m"},
            "nothing of it lies inside", at="tl.store(y_ptr"),
    Mistake("nothing is returned", {RETURN: "    y"}, "returns nothing"),
    Mistake("torch does the work", {RETURN: "    return torch.logsumexp(x.float(), dim=-1)"}, "torch",
            fails="honest"),
    Mistake("one walk, and a block of -inf comes first", {TWO_WALKS: ONE_WALK}, "-inf", fails="edges"),
    Mistake("the result is rounded to the input's dtype",
            {"tl.log(total) + shift)": "(tl.log(total) + shift).to(x_ptr.dtype.element_ty))"},
            "Every element is a number of"),
    Mistake("the maximum is never below fp16's lowest number",
            {"    m = tl.max(m_i, axis=0)\n": "    m = tl.maximum(tl.max(m_i, axis=0), -65504.0)\n"},
            "log(0) is -inf", fails="edges"),
    Mistake("a tl.where at the end swallows NaN",
            {f"{RESULT})": f"tl.where(total > 0, {RESULT}, -float('inf')))"}, "is right", fails="edges"),
    Mistake(
        "the first block is counted twice",
        {
            "l_i = tl.exp(first - shift)\n    for start in range(BLOCK_N,": (
                "l_i = tl.exp(first - shift)\n    for start in range(0,"
            )
        },
        "Every element is off by",
    ),
]
