"""Day 15: what a matrix times a vector gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ACCUMULATE = "acc += a.to(tl.float32) * x.to(tl.float32)[None, :]"
LOAD_A = "a = tl.load(a_ptrs, mask=rows[:, None] & cols[None, :], other=0.0)"
LOAD_X = "x = tl.load(x_ptr + offs_n * stride_x, mask=cols, other=0.0)"
ROWS = "offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)"
RETURN = "    return y"
ZEROS = "tl.zeros((BLOCK_M, BLOCK_N), tl.float32)"
STORE = "tl.store(y_ptr + offs_m, tl.sum(acc, axis=1), mask=rows)"

# fmt: off
mistakes = [
    Mistake("columns are taken to lie side by side", {"offs_n[None, :] * stride_an": "offs_n[None, :]"},
            "stride", fails="edges"),
    Mistake("the strides of a arrive in the wrong order",
            {"*a.stride(), x.stride(0)": "a.stride(1), a.stride(0), x.stride(0)"}, "stride"),
    Mistake("x is read without a mask", {LOAD_X: "x = tl.load(x_ptr + offs_n * stride_x)"}, "Unmasked load"),
    Mistake("a is masked by rows alone, and runs into the next row",
            {LOAD_A: "a = tl.load(a_ptrs, mask=rows[:, None], other=0.0)"}, "both sides"),
    Mistake("the store has no mask", {STORE: STORE.replace(", mask=rows", "")}, "Unmasked store"),
    Mistake("lanes past the end hold -inf, and -inf * 0 is NaN",
            {LOAD_A: LOAD_A.replace("other=0.0", 'other=-float("inf")')}, "by tl.where, not by a product"),
    Mistake("products are computed in fp16, and overflow past 65504", {ACCUMULATE: "acc += a * x[None, :]"},
            "fp16", fails="edges"),
    Mistake("the sums are kept in fp16",
            {ZEROS: ZEROS.replace("tl.float32", "a_ptr.dtype.element_ty"),
             ACCUMULATE: "acc += a * x[None, :]"}, "close but not close enough", fails="correct or edges"),
    Mistake("only the last tile is kept", {ACCUMULATE: ACCUMULATE.replace("+=", "=")}, "up to"),
    Mistake("every program takes the first rows", {ROWS: "offs_m = tl.arange(0, BLOCK_M).to(tl.int64)"},
            "never written"),
    Mistake("the sum runs down the columns", {"tl.sum(acc, axis=1)": "tl.sum(acc, axis=0)"},
            "do not fit together"),
    Mistake("the result is always fp32", {"dtype=a.dtype, ": ""}, "dtype"),
    Mistake("torch copies a strided matrix first",
            {"    m = a.shape[0]": "    a = a.contiguous()\n    m = a.shape[0]"}, "strides", fails="honest"),
    Mistake("torch does the work", {RETURN: "    return a @ x"}, "torch", fails="honest"),
    Mistake("a column-major matrix is taken as packed",
            {"*a.stride()": "*((1, m) if a.stride(0) == 1 else a.stride())"}, "loads from a gap between",
            fails="edges"),
    Mistake("half done: the sums are never written, and no launch",
            {"tl.store(y_ptr + offs_m, tl.sum(acc, axis=1), mask=rows)": "pass"}, "launches no kernel yet",
            undone=("matvec",),
            so_far="reads of a and x ✓ · not started: stores of y, sums, launcher · not judged: bounds"),
    Mistake("half done: whole tiles only, and no launch",
            {"range(0, n, BLOCK_N)": "range(0, n // BLOCK_N * BLOCK_N, BLOCK_N)"}, "launches no kernel yet",
            undone=("matvec",),
            so_far="reads of a and x ✗ · stores of y ✓ · bounds ✓ · sums ✗ · not started: launcher"),
    Mistake("a stride that is 1 in some layouts alone is converted by a method",
            {"offs_m[:, None] * stride_am +": "offs_m[:, None] * stride_am.to(tl.int64) +"},
            "stride_am is a plain number here, without .to()"),
    Mistake("x is scaled to its largest element first, which may be 0",
            {"acc += a.to": "top = tl.max(tl.abs(x))\n        x = x / top\n        acc += top * a.to"},
            "0 / 0 is NaN", at="x = x / top"),
    Mistake("what a 0 of the matrix multiplies is left out",
            {ACCUMULATE: "acc += tl.where(a == 0, 0.0, a.to(tl.float32) * x.to(tl.float32)[None, :])"},
            "left out where one factor is 0", fails="limit"),
    Mistake("the mask of x lets one lane too many pass",
            {LOAD_X: "x = tl.load(x_ptr + offs_n * stride_x, mask=offs_n <= n, other=0.0)"},
            "past the end of", at="offs_n <= n"),
    Mistake("a stride of 0 along the columns is taken for 1",
            {"*a.stride(), x.stride(0)": "a.stride(0), a.stride(1) or 1, x.stride(0)"}, "past the end of",
            fails="correct or edges"),
]
