"""Day 12: what a logsumexp gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

FIRST_LOAD = 'other=-float("inf"))\n    first'
SUM_LOAD = 'other=-float("inf"))\n        l_i'
EXP = "exp(tl.where(offs_n < n_cols, first, -float('inf')) - shift)"
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

mistakes = [
    Mistake("no maximum is subtracted", swap={SHIFT: "0.0"}, fails="edges", says="maximum"),
    Mistake("a row of -inf meets -inf - (-inf)", swap={SHIFT: "m"}, fails="edges", says="(-inf) - (-inf)"),
    Mistake(
        "only -inf is kept from itself, not +inf",
        swap={"tl.abs(m) == float": "m == -float"},
        fails="edges",
        says="Inf - Inf",
    ),
    Mistake(
        "the maximum is that of the first block",
        swap={"m_i = tl.maximum(m_i, x.to(tl.float32))": "m_i = first"},
        fails="edges",
        says="maximum",
    ),
    Mistake(
        "the maximum is that of the last block",
        swap={"m_i = tl.maximum(m_i, x.to(tl.float32))": "m_i = x.to(tl.float32)"},
        fails="edges",
        says="maximum",
    ),
    Mistake(
        "the maximum starts at 0",
        swap={"m_i = first": "m_i = tl.maximum(first, 0.0)"},
        fails="edges",
        says="is -inf",
    ),
    Mistake(
        "a masked lane holds 0, and the maximum sees it",
        swap={FIRST_LOAD: "other=0.0)\n    first", "exp(first - shift)": EXP},
        fails="edges",
        says="is -inf",
    ),
    Mistake(
        "a masked lane holds 0, and the sum counts its exponential",
        swap={FIRST_LOAD: "other=0.0)\n    first", SUM_LOAD: "other=0.0)\n        l_i"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "masked lanes of later blocks hold 0 in the second walk",
        swap={SUM_LOAD: "other=0.0)\n        l_i"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the load of the first walk has no mask",
        swap={f"mask=offs_n < n_cols, {FIRST_LOAD}": ")\n    first"},
        fails="correct",
        says="Unmasked load",
    ),
    Mistake(
        "the maximum is added, and was never subtracted",
        swap={"exp(x.to(tl.float32) - shift)": "exp(x.to(tl.float32))", "exp(first - shift)": "exp(first)"},
        fails="correct",
        says="not subtracted",
    ),
    Mistake(
        "the maximum is not added back", swap={RESULT: "tl.log(total)"}, fails="correct", says="added back"
    ),
    Mistake(
        "the maximum is added before the logarithm",
        swap={RESULT: "tl.log(total + shift)"},
        fails="correct",
        says="inside the logarithm",
    ),
    Mistake(
        "the logarithm is in base 2",
        swap={RESULT: "tl.log2(total) + shift"},
        fails="correct",
        says="base 2",
    ),
    Mistake(
        "the maximum is subtracted in half precision",
        swap={
            "tl.exp(first - shift)": "tl.exp((first.to(tl.float16) - shift.to(tl.float16)).to(tl.float32))"
        },
        fails="correct",
        says="precision",
    ),
    Mistake(
        "the terms are rounded to fp16 before the sum",
        swap={"total = tl.sum(l_i, axis=0)": "total = tl.sum(l_i.to(tl.float16), axis=0).to(tl.float32)"},
        fails="correct",
        says="precision",
    ),
    Mistake(
        "the result has x's dtype",
        swap={"dtype=torch.float32": "dtype=x.dtype"},
        fails="correct",
        says="dtype",
    ),
    Mistake(
        "rows are taken to be n_cols apart",
        swap={"pid_m * stride_xm": "pid_m * n_cols"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "every program reads row 0",
        swap={"x_ptr + pid_m * stride_xm": "x_ptr"},
        fails="correct",
        says="same row",
    ),
    Mistake(
        "every program writes element 0",
        swap={"y_ptr + pid_m": "y_ptr"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "results are stored two apart",
        swap={"y_ptr + pid_m": "y_ptr + 2 * pid_m"},
        fails="correct",
        says="nothing of it lies inside",
        at="tl.store(y_ptr",
    ),
    Mistake("nothing is returned", swap={RETURN: "    y"}, fails="correct", says="returns nothing"),
    Mistake(
        "torch finds the maxima",
        swap={"n_rows, n_cols = x.shape": "(n_rows, n_cols), _ = x.shape, x.amax(dim=1)"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "torch does the work",
        swap={RETURN: "    return torch.logsumexp(x.float(), dim=-1)"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "one walk, and a block of -inf comes first", swap={TWO_WALKS: ONE_WALK}, fails="edges", says="-inf"
    ),
    Mistake(
        "the result is rounded to the input's dtype",
        swap={"tl.log(total) + shift)": "(tl.log(total) + shift).to(x_ptr.dtype.element_ty))"},
        fails="correct",
        says="Every element is a number of",
    ),
    Mistake(
        "the maximum is never below fp16's lowest number",
        swap={"    m = tl.max(m_i, axis=0)\n": "    m = tl.maximum(tl.max(m_i, axis=0), -65504.0)\n"},
        fails="edges",
        says="log(0) is -inf",
    ),
    Mistake(
        "a tl.where at the end swallows NaN",
        swap={f"{RESULT})": f"tl.where(total > 0, {RESULT}, -float('inf')))"},
        fails="edges",
        says="is right",
    ),
    Mistake(
        "the first block is counted twice",
        swap={
            "l_i = tl.exp(first - shift)\n    for start in range(BLOCK_N,": (
                "l_i = tl.exp(first - shift)\n    for start in range(0,"
            )
        },
        fails="correct",
        says="Every element is off by",
    ),
]
