"""Day 14: what an online softmax gets wrong, and what the grader must say about it."""

from __future__ import annotations

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

mistakes = [
    Mistake(
        "the sum is not rescaled when the maximum rises",
        swap={UPDATE: "l_i += tl.sum(p, axis=0)"},
        fails="correct",
        says="Right up to",
    ),
    Mistake(
        "the lanes' sums are added without rescaling",
        swap={MERGE: "tl.sum(l_i, axis=0)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the rescaling goes the wrong way",
        swap={UPDATE: UPDATE.replace("m_i - m_new", "m_new - m_i")},
        fails="correct",
        says="The result is finite: a step on the way",
    ),
    Mistake(
        "the numerators of the first pass are stored, and only their sum is rescaled",
        swap={
            UPDATE: f"tl.store(y_row_ptr + cols, p, mask=cols < n_cols)\n            {UPDATE}",
            f"x_row_ptr + {SECOND}": f"y_row_ptr + {SECOND}",
            LAST: "p = x",
        },
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the second pass subtracts each block's own maximum",
        swap={
            SECOND: SECOND.replace("ev", f"{OTHER}, ev"),
            LAST: LAST.replace("x - m", "x - tl.max(x)"),
        },
        fails="correct",
        says="first block",
    ),
    Mistake(
        "the maximum forgets the blocks before",
        swap={"tl.maximum(m_i, tl.max(x, axis=0))": "tl.max(x, axis=0)"},
        fails="correct",
        says="is NaN",
    ),
    Mistake(
        "the maximum starts at -inf, and -inf comes first",
        swap={"tl.constexpr(-3.4028234e38)": 'tl.constexpr(-float("inf"))'},
        fails="edges",
        says="(-inf) - (-inf)",
    ),
    Mistake("a masked lane holds 0", swap={OTHER: "other=0.0"}, fails="correct", says="is right"),
    Mistake(
        "the load has no mask",
        swap={f", mask=cols < n_cols, {OTHER})": ")"},
        fails="correct",
        says="Unmasked load",
    ),
    Mistake(
        "the store has no mask",
        swap={"p * scale, mask=cols < n_cols": "p * scale"},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake(
        "the last, partial block is left out",
        swap={BLOCKS: "n_cols // BLOCK_N"},
        fails="correct",
        says="never written",
    ),
    Mistake("only one block is taken", swap={BLOCKS: "1"}, fails="correct", says="never written"),
    Mistake(
        "a program starts its next row with the last one's maximum and sum",
        swap={INIT: "", ROWS: INIT.replace("        ", "    ") + ROWS},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "a program visits one row only",
        swap={"n_rows, tl.num_programs(0))": "tl.program_id(0) + 1)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "exp2 takes the place of exp as it is",
        swap={"tl.constexpr(1.4426950408889634)": "tl.constexpr(1.0)"},
        fails="correct",
        says="exp2",
    ),
    Mistake("the sum is forgotten", swap={"p * scale": "p"}, fails="correct", says="is right"),
    Mistake(
        "the terms are rounded to fp16 before the sum",
        swap={UPDATE: UPDATE.replace("tl.sum(p,", "tl.sum(p.to(tl.float16),")},
        fails="correct",
        says="precision",
    ),
    Mistake(
        "rows are taken to be n_cols apart",
        swap={"row * stride_xm": "row * n_cols"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "y is written with x's row stride",
        swap={"row * n_cols": "row * stride_xm"},
        fails="edges",
        says="stride",
    ),
    Mistake("the result is always fp32", swap={"dtype=x.dtype, ": ""}, fails="correct", says="dtype"),
    Mistake("nothing is returned", swap={RETURN: "    y"}, fails="correct", says="returns nothing"),
    Mistake(
        "torch finds the maxima",
        swap={"n_rows, n_cols = x.shape": "(n_rows, n_cols), _ = x.shape, x.amax(dim=1)"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "the maximum is replaced before the sum is rescaled to it",
        swap={UPDATE: f"m_i = m_new\n            {UPDATE}"},
        fails="correct",
        says="Right up to",
    ),
    Mistake(
        "the lanes whose maximum is the row's count, and no others",
        swap={MERGE: "tl.sum(tl.where(m_i == m, l_i, 0.0), axis=0)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "a lane's sum is rescaled by its block's rise, not by its own",
        swap={UPDATE: UPDATE.replace("m_i - m_new", "tl.max(m_i, axis=0) - tl.max(m_new, axis=0)")},
        fails="correct",
        says="Right up to",
    ),
    Mistake(
        "the sum of the row before goes on",
        swap={
            INIT: "        m_i = tl.full((LANES,), LOWEST, tl.float32)\n",
            ROWS: "    l_i = tl.zeros((LANES,), tl.float32)\n    last = 0.0\n" + ROWS,
            "scale = 1.0 / total": "last += total\n        scale = 1.0 / last",
        },
        fails="correct",
        says="is right",
    ),
    Mistake(
        "sums go on from row to row, and a launch of 264 programs shows it in long matrices alone",
        swap={
            INIT: "",
            ROWS: INIT.replace("        ", "    ") + ROWS,
            "num_programs = triton.cdiv(n_rows, rounds)": "num_programs = min(n_rows, 264)",
        },
        fails="correct",
        says="Right up to",
    ),
    Mistake(
        "the maximum starts at 0",
        swap={"tl.full((LANES,), LOWEST, tl.float32)": "tl.zeros((LANES,), tl.float32)"},
        fails="correct",
        says="What is divided by, or what a logarithm",
    ),
    Mistake(
        "the running sum begins as a number, and becomes a block",
        swap={"l_i = tl.zeros((LANES,), tl.float32)": "l_i = 0.0"},
        fails="correct",
        says="l_i",
    ),
    Mistake(
        "a block is shifted by its own maximum",
        swap={"p = tl.exp2((x - m_new[None, :])": "p = tl.exp2((x - tl.max(x, axis=0)[None, :])"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the maximum of the row before is kept, of 264 programs that take row after row",
        swap={
            INIT: "        l_i = tl.zeros((LANES,), tl.float32)\n",
            ROWS: "    m_i = tl.full((LANES,), LOWEST, tl.float32)\n" + ROWS,
            "num_programs = triton.cdiv(n_rows, rounds)": "num_programs = min(n_rows, 264)",
        },
        fails="correct",
        says="What is divided by, or what a logarithm is taken of, must not be 0",
    ),
    Mistake(
        "the sum starts at 1",
        swap={"l_i = tl.zeros((LANES,), tl.float32)": "l_i = tl.full((LANES,), 1.0, tl.float32)"},
        fails="edges",
        says="is right",
    ),
]
