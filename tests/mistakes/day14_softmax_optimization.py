"""Day 14: what an online softmax gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

BLOCKS = "tl.cdiv(n_cols, BLOCK_N)"
INIT = """        m_i = tl.full((LANES,), LOWEST, tl.float32)
        l_i = tl.zeros((LANES,), tl.float32)
"""
LAST = "p = tl.exp2((x - m) * LOG2_E)"
MERGE = "tl.sum(l_i * tl.exp2((m_i - m) * LOG2_E), axis=0)"
OTHER = 'other=-float("inf")'
RETURN = "    return y"
SECOND = "cols, mask=cols < n_cols, ev"
ROWS = "    # 64 bits: a row may start 2**31 elements or more after the first one.\n"
UPDATE = "l_i = l_i * tl.exp2((m_i - m_new) * LOG2_E) + tl.sum(p, axis=0)"

# fmt: off
mistakes = [
    Mistake("the sum is not rescaled when the maximum rises", {UPDATE: "l_i += tl.sum(p, axis=0)"},
            "Right up to"),
    Mistake("the lanes' sums are added without rescaling", {MERGE: "tl.sum(l_i, axis=0)"}, "is right"),
    Mistake("the rescaling goes the wrong way", {UPDATE: UPDATE.replace("m_i - m_new", "m_new - m_i")},
            "The result is finite: a step on the way"),
    Mistake("the second pass subtracts each block's own maximum",
            {SECOND: SECOND.replace("ev", f"{OTHER}, ev"), LAST: LAST.replace("x - m", "x - tl.max(x)")},
            "first block"),
    Mistake("the maximum forgets the blocks before",
            {"tl.maximum(m_i, tl.max(x, axis=0))": "tl.max(x, axis=0)"}, "is NaN"),
    Mistake("the maximum starts at -inf, and -inf comes first",
            {"tl.constexpr(-3.4028234e38)": 'tl.constexpr(-float("inf"))'}, "(-inf) - (-inf)", fails="edges"),
    Mistake("the load has no mask", {f", mask=cols < n_cols, {OTHER})": ")"}, "Unmasked load"),
    Mistake("the store has no mask", {"p * scale, mask=cols < n_cols": "p * scale"}, "Unmasked store"),
    Mistake("the last, partial block is left out", {BLOCKS: "n_cols // BLOCK_N"}, "never written"),
    Mistake("exp2 takes the place of exp as it is", {"tl.constexpr(1.4426950408889634)": "tl.constexpr(1.0)"},
            "exp2"),
    Mistake("the terms are rounded to fp16 before the sum",
            {UPDATE: UPDATE.replace("tl.sum(p,", "tl.sum(p.to(tl.float16),")}, "precision"),
    Mistake("y is written with x's row stride", {"row * n_cols": "row * stride_xm"}, "stride", fails="edges"),
    Mistake("the result is always fp32", {"dtype=x.dtype, ": ""}, "dtype"),
    Mistake("nothing is returned", {RETURN: "    y"}, "returns nothing"),
    Mistake("torch finds the maxima",
            {"n_rows, n_cols = x.shape": "(n_rows, n_cols), _ = x.shape, x.amax(dim=1)"}, "torch",
            fails="honest"),
    Mistake("the maximum starts at 0",
            {"tl.full((LANES,), LOWEST, tl.float32)": "tl.zeros((LANES,), tl.float32)"},
            "What is divided by, or what a logarithm"),
    Mistake("the running sum begins as a number, and becomes a block",
            {"l_i = tl.zeros((LANES,), tl.float32)": "l_i = 0.0"}, "l_i"),
    Mistake("the maximum of the row before is kept, of 264 programs that take row after row",
            {INIT: "        l_i = tl.zeros((LANES,), tl.float32)\n",
             ROWS: "    m_i = tl.full((LANES,), LOWEST, tl.float32)\n" + ROWS,
             "num_programs = triton.cdiv(n_rows, rounds)": "num_programs = min(n_rows, 264)"},
            "What is divided by, or what a logarithm is taken of, must not be 0"),
    Mistake("the sum starts at 1",
            {"l_i = tl.zeros((LANES,), tl.float32)": "l_i = tl.full((LANES,), 1.0, tl.float32)"}, "is right",
            fails="edges"),
]
