"""Day 11: what row statistics get wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

AS_INTEGERS = """bits = x.to(tl.float32).to(tl.int32, bitcast=True)
        bits = bits ^ ((bits >> 31) & 0x7FFFFFFF)
        largest = tl.max(bits, axis=1)[:, None]
        block_argmax = tl.min(tl.where(bits == largest, offs_n[None, :], n_cols), axis=1)"""
BEST = "tl.where(block_max > row_max, block_argmax, row_argmax)"
FOUND = "tl.min(tl.where(x == block_max[:, None], offs_n[None, :], n_cols), axis=1)"
GRID = "(triton.cdiv(n_rows, BLOCK_M),)"
LOOP = "for start in range(0, n_cols, BLOCK_N):"
OTHER = 'other=-float("inf")'
RETURN = "return mean, maximum, argmax"
SUM = "tl.sum(tl.where(mask, x, 0.0), axis=1)"

mistakes = [
    Mistake(
        "the argmax compares bits, by which -0 is less than 0",
        swap={f"block_argmax = {FOUND}": AS_INTEGERS},
        fails="edges",
        says="0 counts as larger than -0",
    ),
    Mistake(
        "the loop ends by a break, which no compiled kernel has",
        swap={
            LOOP: "for start in range(0, 9999999, BLOCK_N):\n        if start >= n_cols:\n            break"
        },
        fails="correct",
        says="takes no `break`",
    ),
    Mistake(
        "masked lanes hold 0, and the maximum of a negative row is 0",
        swap={OTHER: "other=0.0"},
        fails="correct",
        says="other= must be -inf",
    ),
    Mistake(
        "masked lanes hold -inf, and the sum counts them",
        swap={SUM: "tl.sum(x, axis=1)"},
        fails="correct",
        says="is -inf where",
    ),
    Mistake(
        "the mean divides by the block's width",
        swap={"row_sum / n_cols": "row_sum / BLOCK_N"},
        fails="correct",
        says="number of columns",
    ),
    Mistake(
        "the mean is the mean of the blocks' means",
        swap={
            "row_sum += " + SUM: "row_sum += " + SUM + " / BLOCK_N",
            "row_sum / n_cols": "row_sum / tl.cdiv(n_cols, BLOCK_N)",
        },
        fails="correct",
        says="number of columns",
    ),
    Mistake(
        "the sum is never divided",
        swap={"row_sum / n_cols": "row_sum"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "only the first block of columns is read",
        swap={LOOP: "for start in range(0, BLOCK_N, BLOCK_N):"},
        fails="correct",
        says="first 8192 columns",
    ),
    Mistake(
        "the sum starts anew in every block",
        swap={"row_sum += ": "row_sum = "},
        fails="correct",
        says="starts anew",
    ),
    Mistake(
        "the argmax counts from the start of its block",
        swap={BEST: BEST.replace("block_argmax", "block_argmax - start")},
        fails="correct or edges",
        says="add where that block starts",
    ),
    Mistake(
        "the argmax of the last block is kept, whatever its maximum",
        swap={BEST: "block_argmax"},
        fails="correct",
        says="last block of 8192",
    ),
    Mistake(
        "of equal maxima in two blocks the later one wins",
        swap={"block_max > row_max": "block_max >= row_max"},
        fails="edges",
        says="the first counts",
    ),
    Mistake(
        "of equal maxima in one block any one wins",
        swap={FOUND: "tl.max(tl.where(x == block_max[:, None], offs_n[None, :], 0), axis=1)"},
        fails="correct or edges",
        says="Of equal maxima the last one wins",
    ),
    Mistake(
        "the maximum starts at 0",
        swap={'tl.full((BLOCK_M,), -float("inf"), tl.float32)': "tl.zeros((BLOCK_M,), tl.float32)"},
        fails="correct",
        says="must start at -inf",
    ),
    Mistake(
        "fp16 is added up in fp16",
        swap={"        x = x.to(tl.float32)\n": ""},
        fails="correct",
        says="precision",
    ),
    Mistake(
        "rows are taken to be n_cols apart",
        swap={"offs_m[:, None] * stride_xm": "offs_m[:, None] * n_cols"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "the last rows get no program",
        swap={GRID: "(n_rows // BLOCK_M,)"},
        fails="correct",
        says="never written",
    ),
    Mistake("the argmax is int32", swap={"torch.int64": "torch.int32"}, fails="correct", says="dtype"),
    Mistake(
        "the maximum is always fp32",
        swap={"dtype=x.dtype": "dtype=torch.float32"},
        fails="correct",
        says="dtype",
    ),
    Mistake(
        "maximum and mean change places",
        swap={RETURN: "return maximum, mean, argmax"},
        fails="correct",
        says="in the order of the task",
    ),
    Mistake(
        "the argmax is forgotten", swap={RETURN: "return mean, maximum"}, fails="correct", says="3 outputs"
    ),
    Mistake(
        "rows past the end are stored",
        swap={"row_sum / n_cols, mask=rows": "row_sum / n_cols"},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake(
        "torch finds the argmax",
        swap={RETURN: "return mean, maximum, x.argmax(dim=1)"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "the sum begins as a number, and becomes a block",
        swap={"row_sum = tl.zeros((BLOCK_M,), tl.float32)": "row_sum = 0.0"},
        fails="correct",
        says="row_sum",
    ),
    Mistake(
        "half done: the mean alone",
        swap={
            "    tl.store(max_ptr + offs_m, row_max, mask=rows)\n": "",
            "    tl.store(argmax_ptr + offs_m, row_argmax, mask=rows)\n": "",
        },
        fails="correct",
        says="launches no kernel yet",
        undone=("row_stats",),
        so_far="reads of x ✓ · mean ✓ · not started: max, argmax, launcher · not judged: bounds",
    ),
    Mistake(
        "half done: the lanes past a row count in its sum, and no launch",
        swap={"tl.where(mask, x, 0.0)": "x"},
        fails="correct",
        says="launches no kernel yet",
        undone=("row_stats",),
        so_far="reads of x ✓ · mean ✗ · max ✓ · argmax ✓ · bounds ✓ · not started: launcher",
    ),
    Mistake(
        "masked lanes hold 1 where the sum is taken",
        swap={"tl.where(mask, x, 0.0)": "tl.where(mask, x, 1.0)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the argmax is kept in 16 bits",
        swap={"offs_m, row_argmax,": "offs_m, row_argmax.to(tl.int16),"},
        fails="correct",
        says=("wrong from cols =", "mean and maximum: right in every case"),
    ),
    Mistake(
        "the mean divides by n - 1",
        swap={"row_sum / n_cols": "row_sum / tl.maximum(n_cols - 1, 1)"},
        fails="correct",
        says="The mean divides by n - 1",
    ),
]
