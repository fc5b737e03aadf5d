"""Extra: what goes wrong in a box blur, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ACROSS = "across = tl.minimum(x + radius, width - 1) - tl.maximum(x - radius, 0) + 1"
COLS = "cols = offs_n + 3 * dx"
COUNT = "count = down * across"
DOWN = "down = tl.minimum(row + radius, height - 1) - tl.maximum(row - radius, 0) + 1"
FIRST = "for row in range(first - radius, first + radius):"
GONE = "acc -= row_sums(image_ptr, row - radius, offs_n, height, n, radius)"
GRID = "grid = (triton.cdiv(height, BLOCK_M), triton.cdiv(3 * width, BLOCK_N))"
INSIDE = "inside = (row >= 0) & (row < height)"
LENGTH = "n = 3 * width\n"
LOAD = "tl.load(row_ptr + cols, mask=inside & (cols >= 0) & (cols < n), other=0)"
MEAN = "mean = (acc + count // 2) // count"
ROW_PTR = "row_ptr = image_ptr + row.to(tl.int64) * n"
ROWS = "for row in range(first, tl.minimum(first + BLOCK_M, height)):"
SHAPE = "height, width, _ = image.shape"
STORE = "tl.store(out_ptr + row.to(tl.int64) * n + offs_n, mean, mask=offs_n < n)"
SUMS = "acc = tl.zeros(offs_n.shape, tl.int32)"
TAPS = "for dx in range(-radius, radius + 1):"
TOTAL = "acc = tl.zeros((BLOCK_N,), tl.int32)"
WARM_UP = f"{FIRST}\n        acc += row_sums(image_ptr, row, offs_n, height, n, radius)\n"
X = "x = tl.minimum(offs_n // 3, width - 1)"

mistakes = [
    Mistake(
        "every sum is divided by the whole window",
        swap={COUNT: "count = (2 * radius + 1) * (2 * radius + 1)"},
        fails="correct",
        says="divided by (2·radius + 1)²",
    ),
    Mistake(
        "windows run on into the next row",
        swap={LOAD: "tl.load(row_ptr + cols, mask=inside, other=0)"},
        fails="correct",
        says=("runs on into the next row", "image"),
    ),
    Mistake(
        "rows above the image are read",
        swap={INSIDE: "inside = row < height"},
        fails="correct",
        says="before the start of image",
    ),
    Mistake(
        "rows below the image are read",
        swap={INSIDE: "inside = row >= 0"},
        fails="correct",
        says="past the end of image",
    ),
    Mistake(
        "the next byte is taken for the next pixel",
        swap={COLS: "cols = offs_n + dx"},
        fails="correct",
        says="channels are mixed",
    ),
    Mistake(
        "sums are kept in bytes",
        swap={SUMS: SUMS.replace("int32", "uint8")},
        fails="correct",
        says="kept in bytes",
    ),
    Mistake(
        "sums are kept in 16 bits",
        swap={
            SUMS: SUMS.replace("int32", "int16"),
            TOTAL: TOTAL.replace("int32", "int16"),
        },
        fails="correct or edges",
        says="kept in two bytes",
    ),
    Mistake(
        "the mean is rounded down",
        swap={MEAN: "mean = acc // count"},
        fails="correct",
        says="rounded down",
    ),
    Mistake(
        "the mean is rounded up",
        swap={MEAN: "mean = (acc + count - 1) // count"},
        fails="correct",
        says="rounded up",
    ),
    Mistake(
        "half of the wrong number is added",
        swap={MEAN: "mean = (acc + radius) // count"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the last row of the window is not counted at the bottom",
        swap={DOWN: "down = tl.minimum(row + radius, height) - tl.maximum(row - radius, 0) + 1"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "at the left all columns are counted",
        swap={ACROSS: "across = tl.minimum(x + radius, width - 1) - (x - radius) + 1"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "bytes are counted, not pixels",
        swap={X: "x = tl.minimum(offs_n, width - 1)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the window ends a pixel early on the right",
        swap={TAPS: "for dx in range(-radius, radius):"},
        fails="correct",
        says="Windows end a pixel early on the right",
    ),
    Mistake(
        "the first window begins with all its rows",
        swap={FIRST: "for row in range(first - radius, first + radius + 1):"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the first window is not begun",
        swap={f"    {WARM_UP}": ""},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "no row goes out",
        swap={f"        {GONE}\n": ""},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the row that goes out is one too high",
        swap={GONE: GONE.replace("row - radius", "row - radius - 1")},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "height and width are swapped",
        swap={SHAPE: "width, height, _ = image.shape"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "a row is as long as the image is wide",
        swap={LENGTH: "n = width\n"},
        fails="correct",
        says=("is right", "never written"),
    ),
    Mistake(
        "only whole strips are launched",
        swap={GRID: GRID.replace("triton.cdiv(height, BLOCK_M)", "max(height // BLOCK_M, 1)")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "programs go on below the image",
        swap={ROWS: "for row in range(first, first + BLOCK_M):"},
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "bytes past the end of a row are stored",
        swap={STORE: STORE.replace("mask=offs_n < n", "mask=offs_n >= 0")},
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "rows are found in 32 bits",
        swap={ROW_PTR: "row_ptr = image_ptr + row * n"},
        fails="limit",
        says="in int32",
    ),
    Mistake(
        "the means are still to be stored",
        swap={
            f"        {DOWN}\n        {COUNT}\n        {MEAN}\n        {STORE}\n": (
                "        # TODO 4: count the pixels of the window, and store the mean, rounded half up.\n"
            )
        },
        fails="correct",
        says=("never written", "Still in the file is"),
    ),
    Mistake(
        "torch widens the bytes",
        swap={"    box_blur_kernel[grid](image,": "    box_blur_kernel[grid](image.int(),"},
        fails="correct or honest",
        says="torch converted a tensor first",
    ),
]
