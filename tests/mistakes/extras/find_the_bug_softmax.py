"""Extra find_the_bug_softmax: its bugs, and what goes wrong while they are mended."""

from tools.planted import Mistake

LOAD = 'x = tl.load(x_ptr + offs, mask=mask, other=-float("inf"))'
MASK = "mask = offs_n < n_cols"
SUM = "    denominator = tl.sum(numerator, axis=0)\n"
PLACE = "y_ptr + pid_m * n_cols"

# What is swapped for what plants each; all of them together are the file that is handed out.
bugs = {
    "the mask compares the place in the whole matrix with the length of a row": {
        MASK: "mask = offs < n_cols"
    },
    "lanes past the row load 0 and count in the maximum and the sum": {'other=-float("inf")': "other=0.0"},
    "rows of the result are stored at the input's stride": {PLACE: "y_ptr + pid_m * stride_xm"},
    "the exponentials are parked in x, and the input is lost": {
        SUM: "    # The row's exponentials wait in memory until their sum is known.\n"
        "    tl.store(x_ptr + offs, numerator, mask=mask)\n" + SUM,
        "numerator / denominator": "tl.load(x_ptr + offs, mask=mask) / denominator",
    },
}

# fmt: off
mistakes = [
    Mistake("the load's mask ends behind the matrix, not behind the row",
            {LOAD: LOAD.replace("mask=mask", "mask=offs < tl.num_programs(0) * stride_xm")},
            "the load's mask must end with this one's columns"),
    Mistake("masked lanes hold a merely small number", {'other=-float("inf")': "other=-1e9"}, "is right",
            fails="edges"),
    Mistake("the exponentials of masked lanes are dropped, and 0 may still be the maximum",
            {'other=-float("inf")': "other=0.0",
             "= tl.sum(numerator, axis=0)": "= tl.sum(tl.where(mask, numerator, 0.0), axis=0)"},
            "0 / 0 is NaN", fails="edges"),
    Mistake("x is cloned, so that the kernel may write into it",
            {"n_rows, n_cols = x.shape": "x = x.clone()\n    n_rows, n_cols = x.shape"}, "torch copied",
            fails="honest"),
    Mistake("both strides become n_cols", {"offs = pid_m * stride_xm": "offs = pid_m * n_cols"}, "stride",
            fails="edges"),
    Mistake("the mask of the store is lost",
            {"numerator / denominator, mask=mask": "numerator / denominator"}, "Unmasked store"),
]
