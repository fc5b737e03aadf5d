"""Extra find_the_bug_softmax: its bugs, and what goes wrong while they are mended."""

from __future__ import annotations

from tools.planted import Mistake

LOAD = 'x = tl.load(x_ptr + offs, mask=mask, other=-float("inf"))'
MASK = "mask = offs_n < n_cols"
SUM = "    denominator = tl.sum(numerator, axis=0)\n"
PLACE = "y_ptr + pid_m * n_cols"

# What is swapped for what plants each; all of them together are the file that is handed out.
bugs = {
    "the mask compares the place in the whole matrix with the length of a row": {
        MASK: "mask = offs < n_cols",
    },
    "lanes past the row load 0 and count in the maximum and the sum": {
        'other=-float("inf")': "other=0.0",
    },
    "rows of the result are stored at the input's stride": {
        PLACE: "y_ptr + pid_m * stride_xm",
    },
    "the exponentials are parked in x, and the input is lost": {
        SUM: "    # The row's exponentials wait in memory until their sum is known.\n"
        "    tl.store(x_ptr + offs, numerator, mask=mask)\n" + SUM,
        "numerator / denominator": "tl.load(x_ptr + offs, mask=mask) / denominator",
    },
}

mistakes = [
    Mistake(
        "the load's mask ends behind the matrix, not behind the row",
        swap={LOAD: LOAD.replace("mask=mask", "mask=offs < tl.num_programs(0) * stride_xm")},
        fails="correct",
        says="the load's mask must end with this one's columns",
    ),
    Mistake(
        "masked lanes hold a merely small number",
        swap={'other=-float("inf")': "other=-1e9"},
        fails="edges",
        says="is right",
    ),
    Mistake(
        "the exponentials of masked lanes are dropped, and 0 may still be the maximum",
        swap={
            'other=-float("inf")': "other=0.0",
            "= tl.sum(numerator, axis=0)": "= tl.sum(tl.where(mask, numerator, 0.0), axis=0)",
        },
        fails="edges",
        says="a maximum that sees a 0",
    ),
    Mistake(
        "the result takes x's place, for it is parked there anyway",
        swap={"y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)": "y = x"},
        fails="correct",
        says="input",
    ),
    Mistake(
        "x is cloned, so that the kernel may write into it",
        swap={
            "n_rows, n_cols = x.shape": "x = x.clone()\n    n_rows, n_cols = x.shape",
        },
        fails="honest",
        says="torch copied",
    ),
    Mistake(
        "x is made contiguous, so that one stride serves both",
        swap={
            "n_rows, n_cols = x.shape": "x = x.contiguous()\n    n_rows, n_cols = x.shape",
        },
        fails="honest",
        says="torch copied",
    ),
    Mistake(
        "both strides become n_cols",
        swap={"offs = pid_m * stride_xm": "offs = pid_m * n_cols"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "the mask of the store is lost",
        swap={"numerator / denominator, mask=mask": "numerator / denominator"},
        fails="correct",
        says="Unmasked store",
    ),
]
