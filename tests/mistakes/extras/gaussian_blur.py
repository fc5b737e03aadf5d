"""Extra: what goes wrong in a Gaussian blur, and what the grader must say about it."""

from tools.planted import Mistake

BETWEEN = "between = torch.empty(height, width, dtype=torch.float32, device=x.device)"
COLUMNS_GRID = "columns_kernel[(triton.cdiv(height, BLOCK_M), triton.cdiv(width, BLOCK_N))]"
FIRST_TURNS = (
    "for i in range(-radius, radius + 1):\n        weight = tl.exp(scale * (i * i))\n        # An element"
)
FOLD = "return n - 1 - tl.abs(n - 1 - tl.abs(i))"
ROWS = "rows = reflect(offs_m + i, height).to(tl.int64)"
SCALE = "scale = -0.5 / (sigma * sigma)"
SECOND_TURNS = (
    "for i in range(-radius, radius + 1):\n        weight = tl.exp(scale * (i * i))\n        # A row"
)
START = "height, width = x.shape\n"
STORE_COLUMNS = "tl.store(out_ptrs, acc / total, mask=mask)"
STORE_ROWS = "tl.store(out_ptr + row * width + offs_n, acc / total, mask=mask)"
STRIDE = "x_ptr += row * stride_m"

# fmt: off
mistakes = [
    Mistake("weights are not normalised",
            {STORE_ROWS: STORE_ROWS.replace("acc / total", "acc"),
             STORE_COLUMNS: STORE_COLUMNS.replace("acc / total", "acc")}, "not divided by anything"),
    Mistake("weights are divided by those of the whole curve",
            {STORE_ROWS: STORE_ROWS.replace("acc / total", "acc * tl.sqrt(scale * -0.3183098862)"),
             STORE_COLUMNS: STORE_COLUMNS.replace("acc / total", "acc * tl.sqrt(scale * -0.3183098862)")},
            "σ·√(2π)"),
    Mistake("sigma is not squared", {SCALE: "scale = -0.5 / sigma"}, "sigma has to be squared"),
    Mistake("the 2 below sigma is missing", {SCALE: "scale = -1 / (sigma * sigma)"},
            "the 2 below it is missing"),
    Mistake("the exponent is positive", {SCALE: "scale = 0.5 / (sigma * sigma)"}, "is right"),
    Mistake("the last element is repeated",
            {FOLD: "i = tl.where(i < 0, -1 - i, i)\n    return tl.where(i < n, i, 2 * n - 1 - i)"},
            "repeat the last element"),
    Mistake("edges are held", {FOLD: "return tl.minimum(tl.maximum(i, 0), n - 1)"},
            "go on with their last element"),
    Mistake("edges wrap around", {FOLD: "return (i + n) % n"}, "other end"),
    Mistake("only the near edge reflects", {FOLD: "return tl.abs(i)"}, "x"),
    Mistake("rows reflect at the width", {ROWS: ROWS.replace("height", "width")}, "past the end"),
    Mistake("rows are blurred without their last weight",
            {FIRST_TURNS: FIRST_TURNS.replace("radius + 1", "radius")}, "nothing is added up"),
    Mistake("the last weight is left out, twice",
            {FIRST_TURNS: FIRST_TURNS.replace("radius + 1", "radius"),
             SECOND_TURNS: SECOND_TURNS.replace("radius + 1", "radius")}, "The last weight is left out"),
    Mistake("the stride of the rows is ignored", {STRIDE: "x_ptr += row * width"},
            "a stride of it is ignored", fails="edges"),
    Mistake("what lies between is kept in x's dtype", {BETWEEN: BETWEEN.replace("torch.float32", "x.dtype")},
            "too low a precision", fails="correct or edges"),
    Mistake("the first pass writes over x", {BETWEEN: "between = x"}, "changed its input x"),
    Mistake(
        "the second pass writes over what it reads",
        {
            "        between, out, height": "        between, between, height",
            "    return out\n": "    return between.to(x.dtype)\n",
        },
        ("race", "is right"),  # on a GPU values may show it first
    ),
    Mistake("the passes are both of x", {"        between, out, height": "        x, out, height"},
            "Columns alone"),
    Mistake("there is no pass down the columns",
            {SECOND_TURNS: SECOND_TURNS.replace("range(-radius, radius + 1)", "range(0, 1)")}, "Rows alone"),
    Mistake("only whole tiles of rows are launched",
            {COLUMNS_GRID: COLUMNS_GRID.replace("triton.cdiv(height, BLOCK_M)", "max(height // BLOCK_M, 1)")},
            "were never written"),
    Mistake(
        "the pass down the columns is still to be written",
        {
            STORE_COLUMNS: (
                "# TODO 3: the same for a tile of BLOCK_M rows and BLOCK_N columns, down the columns."
            )
        },
        "Still in the file is",
    ),
    Mistake("torch pads the rows", {START: f"{START}    x = x.contiguous()\n"}, "contiguous",
            fails="edges or honest"),
]
