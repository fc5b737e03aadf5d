"""Day 11: what row statistics get wrong, and what the grader must say about it."""

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

# fmt: off
mistakes = [
    Mistake("the argmax compares bits, by which -0 is less than 0", {f"block_argmax = {FOUND}": AS_INTEGERS},
            "0 counts as larger than -0", fails="edges"),
    Mistake(
        "the loop ends by a break, which no compiled kernel has",
        {LOOP: "for start in range(0, 9999999, BLOCK_N):\n        if start >= n_cols:\n            break"},
        "takes no `break`",
    ),
    Mistake("masked lanes hold 0, and the maximum of a negative row is 0", {OTHER: "other=0.0"},
            "other= must be -inf"),
    Mistake("masked lanes hold -inf, and the sum counts them", {SUM: "tl.sum(x, axis=1)"}, "is -inf where"),
    Mistake("the mean divides by the block's width", {"row_sum / n_cols": "row_sum / BLOCK_N"},
            "number of columns"),
    Mistake("the sum is never divided", {"row_sum / n_cols": "row_sum"}, "is right"),
    Mistake("only the first block of columns is read", {LOOP: "for start in range(0, BLOCK_N, BLOCK_N):"},
            "first 8192 columns"),
    Mistake("the sum starts anew in every block", {"row_sum += ": "row_sum = "}, "starts anew"),
    Mistake("the argmax counts from the start of its block",
            {BEST: BEST.replace("block_argmax", "block_argmax - start")}, "add where that block starts",
            fails="correct or edges"),
    Mistake("the argmax of the last block is kept, whatever its maximum", {BEST: "block_argmax"},
            "last block of 8192"),
    Mistake("of equal maxima in two blocks the later one wins",
            {"block_max > row_max": "block_max >= row_max"}, "the first counts", fails="edges"),
    Mistake("of equal maxima in one block any one wins",
            {FOUND: "tl.max(tl.where(x == block_max[:, None], offs_n[None, :], 0), axis=1)"},
            "Of equal maxima the last one wins", fails="correct or edges"),
    Mistake("the maximum starts at 0",
            {'tl.full((BLOCK_M,), -float("inf"), tl.float32)': "tl.zeros((BLOCK_M,), tl.float32)"},
            "must start at -inf"),
    Mistake("fp16 is added up in fp16", {"        x = x.to(tl.float32)\n": ""}, "precision"),
    Mistake("rows are taken to be n_cols apart", {"offs_m[:, None] * stride_xm": "offs_m[:, None] * n_cols"},
            "stride", fails="edges"),
    Mistake("the last rows get no program", {GRID: "(n_rows // BLOCK_M,)"}, "never written"),
    Mistake("the argmax is int32", {"torch.int64": "torch.int32"}, "dtype"),
    Mistake("maximum and mean change places", {RETURN: "return maximum, mean, argmax"},
            "in the order of the task"),
    Mistake("the argmax is forgotten", {RETURN: "return mean, maximum"}, "3 outputs"),
    Mistake("rows past the end are stored", {"row_sum / n_cols, mask=rows": "row_sum / n_cols"},
            "Unmasked store"),
    Mistake("torch finds the argmax", {RETURN: "return mean, maximum, x.argmax(dim=1)"}, "torch",
            fails="honest"),
    Mistake("the sum begins as a number, and becomes a block",
            {"row_sum = tl.zeros((BLOCK_M,), tl.float32)": "row_sum = 0.0"}, "row_sum"),
    Mistake("half done: the mean alone",
            {"    tl.store(max_ptr + offs_m, row_max, mask=rows)\n": "",
             "    tl.store(argmax_ptr + offs_m, row_argmax, mask=rows)\n": ""}, "launches no kernel yet",
            undone=("row_stats",),
            so_far="reads of x ✓ · mean ✓ · not started: max, argmax, launcher · not judged: bounds"),
    Mistake("half done: the lanes past a row count in its sum, and no launch",
            {"tl.where(mask, x, 0.0)": "x"}, "launches no kernel yet", undone=("row_stats",),
            so_far="reads of x ✓ · mean ✗ · max ✓ · argmax ✓ · bounds ✓ · not started: launcher"),
    Mistake("the argmax is kept in 16 bits", {"offs_m, row_argmax,": "offs_m, row_argmax.to(tl.int16),"},
            ("wrong from cols =", "mean and maximum: right in every case")),
    Mistake("the mean divides by n - 1", {"row_sum / n_cols": "row_sum / tl.maximum(n_cols - 1, 1)"},
            "The mean divides by n - 1"),
]
