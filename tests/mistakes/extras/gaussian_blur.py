"""Extra: what goes wrong in a Gaussian blur, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

BETWEEN = "between = torch.empty(height, width, dtype=torch.float32, device=x.device)"
COLUMN = "reflect(offs_n + i, width)"
COLUMNS_GRID = "columns_kernel[(triton.cdiv(height, BLOCK_M), triton.cdiv(width, BLOCK_N))]"
FIRST_TURNS = (
    "for i in range(-radius, radius + 1):\n        weight = tl.exp(scale * (i * i))\n        # An element"
)
FOLD = "return n - 1 - tl.abs(n - 1 - tl.abs(i))"
LOAD = "x = tl.load(x_ptr + reflect(offs_n + i, width), mask=mask, other=0.0)"
MASK = "mask = (offs_m < height)[:, None] & (offs_n < width)[None, :]"
OFFS_M = "offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)"
ROW = "row = tl.program_id(0).to(tl.int64)"
ROWS = "rows = reflect(offs_m + i, height).to(tl.int64)"
ROWS_GRID = "rows_kernel[(height, triton.cdiv(width, BLOCK))]"
SCALE = "scale = -0.5 / (sigma * sigma)"
SECOND_TURNS = (
    "for i in range(-radius, radius + 1):\n        weight = tl.exp(scale * (i * i))\n        # A row"
)
START = "height, width = x.shape\n"
STORE_COLUMNS = "tl.store(out_ptrs, acc / total, mask=mask)"
STORE_ROWS = "tl.store(out_ptr + row * width + offs_n, acc / total, mask=mask)"
STRIDE = "x_ptr += row * stride_m"

mistakes = [
    Mistake(
        "weights are not normalised",
        swap={
            STORE_ROWS: STORE_ROWS.replace("acc / total", "acc"),
            STORE_COLUMNS: STORE_COLUMNS.replace("acc / total", "acc"),
        },
        fails="correct",
        says="not divided by anything",
    ),
    Mistake(
        "weights are divided by those of the whole curve",
        swap={
            STORE_ROWS: STORE_ROWS.replace("acc / total", "acc * tl.sqrt(scale * -0.3183098862)"),
            STORE_COLUMNS: STORE_COLUMNS.replace("acc / total", "acc * tl.sqrt(scale * -0.3183098862)"),
        },
        fails="correct",
        says="σ·√(2π)",
    ),
    Mistake(
        "the columns' weights are not normalised",
        swap={STORE_COLUMNS: STORE_COLUMNS.replace("acc / total", "acc")},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "sigma is not squared",
        swap={SCALE: "scale = -0.5 / sigma"},
        fails="correct",
        says="sigma has to be squared",
    ),
    Mistake(
        "the 2 below sigma is missing",
        swap={SCALE: "scale = -1 / (sigma * sigma)"},
        fails="correct",
        says="the 2 below it is missing",
    ),
    Mistake(
        "the exponent is positive",
        swap={SCALE: "scale = 0.5 / (sigma * sigma)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the last element is repeated",
        swap={FOLD: "i = tl.where(i < 0, -1 - i, i)\n    return tl.where(i < n, i, 2 * n - 1 - i)"},
        fails="correct",
        says="repeat the last element",
    ),
    Mistake(
        "edges are held",
        swap={FOLD: "return tl.minimum(tl.maximum(i, 0), n - 1)"},
        fails="correct",
        says="go on with their last element",
    ),
    Mistake(
        "edges wrap around",
        swap={FOLD: "return (i + n) % n"},
        fails="correct",
        says="other end",
    ),
    Mistake(
        "only the near edge reflects",
        swap={FOLD: "return tl.abs(i)"},
        fails="correct",
        says="x",
    ),
    Mistake(
        "what lies outside is 0",
        swap={
            LOAD: (
                "cols = offs_n + i\n"
                "        x = tl.load(x_ptr + cols, mask=mask & (cols >= 0) & (cols < width), other=0.0)"
            )
        },
        fails="correct",
        says="is right",
    ),
    Mistake(
        "rows reflect at the width",
        swap={ROWS: ROWS.replace("height", "width")},
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "rows are blurred without their last weight",
        swap={FIRST_TURNS: FIRST_TURNS.replace("radius + 1", "radius")},
        fails="correct",
        says="nothing is added up",
    ),
    Mistake(
        "the last weight is left out, twice",
        swap={
            FIRST_TURNS: FIRST_TURNS.replace("radius + 1", "radius"),
            SECOND_TURNS: SECOND_TURNS.replace("radius + 1", "radius"),
        },
        fails="correct",
        says="The last weight is left out",
    ),
    Mistake(
        "the stride of the rows is ignored",
        swap={STRIDE: "x_ptr += row * width"},
        fails="edges",
        says="a stride of it is ignored",
    ),
    Mistake(
        "what lies between is kept in x's dtype",
        swap={BETWEEN: BETWEEN.replace("torch.float32", "x.dtype")},
        fails="correct or edges",
        says="half precision is too low",
    ),
    Mistake(
        "the first pass writes over x",
        swap={BETWEEN: "between = x"},
        fails="correct",
        says="changed its input x",
    ),
    Mistake(
        "the second pass writes over what it reads",
        swap={
            "        between, out, height": "        between, between, height",
            "    return out\n": "    return between.to(x.dtype)\n",
        },
        fails="correct",
        says=("race", "is right"),  # on a GPU values may show it first
    ),
    Mistake(
        "the passes are both of x",
        swap={"        between, out, height": "        x, out, height"},
        fails="correct",
        says="Columns alone",
    ),
    Mistake(
        "there is no pass down the columns",
        swap={SECOND_TURNS: SECOND_TURNS.replace("range(-radius, radius + 1)", "range(0, 1)")},
        fails="correct",
        says="Rows alone",
    ),
    Mistake(
        "tiles at the edge are stored whole",
        swap={MASK: "mask = (offs_m >= 0)[:, None] & (offs_n >= 0)[None, :]"},
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "only whole tiles of rows are launched",
        swap={
            COLUMNS_GRID: COLUMNS_GRID.replace("triton.cdiv(height, BLOCK_M)", "max(height // BLOCK_M, 1)")
        },
        fails="correct",
        says="too few programs",
    ),
    Mistake(
        "rows are numbered in 32 bits",
        swap={ROW: "row = tl.program_id(0)"},
        fails="limit",
        says="in int32",
    ),
    Mistake(
        "the pass down the columns is still to be written",
        swap={
            STORE_COLUMNS: (
                "# TODO 3: the same for a tile of BLOCK_M rows and BLOCK_N columns, down the columns."
            )
        },
        fails="correct",
        says="Still in the file is",
    ),
    Mistake(
        "torch pads the rows",
        swap={START: f"{START}    x = x.contiguous()\n"},
        fails="edges or honest",
        says="contiguous",
    ),
]
