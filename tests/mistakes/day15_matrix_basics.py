"""Day 15: what a matrix times a vector gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ACCUMULATE = "acc += a.to(tl.float32) * x.to(tl.float32)[None, :]"
LAUNCH = "matvec_kernel[(triton.cdiv(m, BLOCK_M),)]"
LOAD_A = "a = tl.load(a_ptrs, mask=rows[:, None] & cols[None, :], other=0.0)"
LOAD_X = "x = tl.load(x_ptr + offs_n * stride_x, mask=cols, other=0.0)"
ROWS = "offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)"
RETURN = "    return y"
ZEROS = "tl.zeros((BLOCK_M, BLOCK_N), tl.float32)"
STORE = "tl.store(y_ptr + offs_m, tl.sum(acc, axis=1), mask=rows)"

mistakes = [
    Mistake(
        "columns are taken to lie side by side",
        swap={"offs_n[None, :] * stride_an": "offs_n[None, :]"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "rows are taken to be n apart",
        swap={"offs_m[:, None] * stride_am": "offs_m[:, None] * n"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "x is taken to lie side by side", swap={"offs_n * stride_x": "offs_n"}, fails="edges", says="stride"
    ),
    Mistake(
        "the strides of a arrive in the wrong order",
        swap={"*a.stride(), x.stride(0)": "a.stride(1), a.stride(0), x.stride(0)"},
        fails="correct",
        says="stride",
    ),
    Mistake(
        "x is read without a mask",
        swap={LOAD_X: "x = tl.load(x_ptr + offs_n * stride_x)"},
        fails="correct",
        says="Unmasked load",
    ),
    Mistake(
        "a is masked by rows alone, and runs into the next row",
        swap={LOAD_A: "a = tl.load(a_ptrs, mask=rows[:, None], other=0.0)"},
        fails="correct",
        says="both sides",
    ),
    Mistake(
        "a is masked by columns alone",
        swap={LOAD_A: "a = tl.load(a_ptrs, mask=cols[None, :], other=0.0)"},
        fails="correct",
        says="both sides",
    ),
    Mistake(
        "the store has no mask",
        swap={STORE: STORE.replace(", mask=rows", "")},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake(
        "lanes past the end hold -inf, and -inf * 0 is NaN",
        swap={LOAD_A: LOAD_A.replace("other=0.0", 'other=-float("inf")')},
        fails="correct",
        says="by tl.where, not by a product",
    ),
    Mistake(
        "products are computed in fp16, and overflow past 65504",
        swap={ACCUMULATE: "acc += a * x[None, :]"},
        fails="edges",
        says="fp16",
    ),
    Mistake(
        "the sums are kept in fp16",
        swap={
            ZEROS: ZEROS.replace("tl.float32", "a_ptr.dtype.element_ty"),
            ACCUMULATE: "acc += a * x[None, :]",
        },
        fails="correct or edges",
        says="close but not close enough",
    ),
    Mistake(
        "every tile meets the first part of x",
        swap={LOAD_X: "x = tl.load(x_ptr + tl.arange(0, BLOCK_N) * stride_x, mask=cols, other=0.0)"},
        fails="correct",
        says="up to",
    ),
    Mistake(
        "only the first tile of each row is read",
        swap={"range(0, n, BLOCK_N)": "range(0, min(n, BLOCK_N), BLOCK_N)"},
        fails="correct",
        says="up to",
    ),
    Mistake(
        "only the last tile is kept",
        swap={ACCUMULATE: ACCUMULATE.replace("+=", "=")},
        fails="correct",
        says="up to",
    ),
    Mistake(
        "every program takes the first rows",
        swap={ROWS: "offs_m = tl.arange(0, BLOCK_M).to(tl.int64)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the last, partial block of rows gets no program",
        swap={LAUNCH: "matvec_kernel[(m // BLOCK_M,)]"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the sum runs down the columns",
        swap={"tl.sum(acc, axis=1)": "tl.sum(acc, axis=0)"},
        fails="correct",
        says="do not fit together",
    ),
    Mistake("the result is always fp32", swap={"dtype=a.dtype, ": ""}, fails="correct", says="dtype"),
    Mistake(
        "torch copies a strided matrix first",
        swap={"    m = a.shape[0]": "    a = a.contiguous()\n    m = a.shape[0]"},
        fails="honest",
        says="strides",
    ),
    Mistake("torch does the work", swap={RETURN: "    return a @ x"}, fails="honest", says="torch"),
    Mistake(
        "a column-major matrix is taken as packed",
        swap={"*a.stride()": "*((1, m) if a.stride(0) == 1 else a.stride())"},
        fails="edges",
        says="loads from a gap between",
    ),
    Mistake(
        "half done: the sums are never written, and no launch",
        swap={"tl.store(y_ptr + offs_m, tl.sum(acc, axis=1), mask=rows)": "pass"},
        fails="correct",
        says="launches no kernel yet",
        undone=("matvec",),
        so_far="reads of a and x ✓ · not started: stores of y, sums, launcher · not judged: bounds",
    ),
    Mistake(
        "half done: whole tiles only, and no launch",
        swap={"range(0, n, BLOCK_N)": "range(0, n // BLOCK_N * BLOCK_N, BLOCK_N)"},
        fails="correct",
        says="launches no kernel yet",
        undone=("matvec",),
        so_far="reads of a and x ✗ · stores of y ✓ · bounds ✓ · sums ✗ · not started: launcher",
    ),
    Mistake(
        "a stride that is 1 in some layouts alone is converted by a method",
        swap={"offs_m[:, None] * stride_am +": "offs_m[:, None] * stride_am.to(tl.int64) +"},
        fails="correct",
        says="stride_am is a plain number here, without .to()",
    ),
    Mistake(
        "x is scaled to its largest element first, which may be 0",
        swap={
            "acc += a.to": "top = tl.max(tl.abs(x))\n        x = x / top\n        acc += top * a.to",
        },
        fails="correct",
        says="0 / 0 is NaN",
        at="x = x / top",
    ),
    Mistake(
        "columns are taken to lie side by side where there is one row",
        swap={"*a.stride(), x": "a.stride(0), a.stride(1) if m > 1 else 1, x"},
        fails="edges",
        says="loads from a gap between",
    ),
    Mistake(
        "what a 0 of the matrix multiplies is left out",
        swap={ACCUMULATE: "acc += tl.where(a == 0, 0.0, a.to(tl.float32) * x.to(tl.float32)[None, :])"},
        fails="limit",
        says="left out where one factor is 0",
    ),
    Mistake(
        "what a 0 of the vector multiplies is left out",
        swap={
            ACCUMULATE: (
                "acc += tl.where((x == 0)[None, :], 0.0, a.to(tl.float32) * x.to(tl.float32)[None, :])"
            )
        },
        fails="limit",
        says="left out where one factor is 0",
    ),
    Mistake(
        "the mask of x lets one lane too many pass",
        swap={LOAD_X: "x = tl.load(x_ptr + offs_n * stride_x, mask=offs_n <= n, other=0.0)"},
        fails="correct",
        says="past the end of",
        at="offs_n <= n",
    ),
    Mistake(
        "a stride of 0 along the columns is taken for 1",
        swap={"*a.stride(), x.stride(0)": "a.stride(0), a.stride(1) or 1, x.stride(0)"},
        fails="correct or edges",
        says="past the end of",
    ),
]
