"""Extra: what goes wrong in a box blur, and what the grader must say about it."""

from tools.planted import Mistake

COLS = "cols = offs_n + 3 * dx"
COUNT = "count = down * across"
DOWN = "down = tl.minimum(row + radius, height - 1) - tl.maximum(row - radius, 0) + 1"
GRID = "grid = (triton.cdiv(height, BLOCK_M), triton.cdiv(3 * width, BLOCK_N))"
INSIDE = "inside = (row >= 0) & (row < height)"
LENGTH = "n = 3 * width\n"
LOAD = "tl.load(row_ptr + cols, mask=inside & (cols >= 0) & (cols < n), other=0)"
MEAN = "mean = (acc + count // 2) // count"
ROWS = "for row in range(first, tl.minimum(first + BLOCK_M, height)):"
STORE = "tl.store(out_ptr + row.to(tl.int64) * n + offs_n, mean, mask=offs_n < n)"
SUMS = "acc = tl.zeros(offs_n.shape, tl.int32)"
TAPS = "for dx in range(-radius, radius + 1):"
TOTAL = "acc = tl.zeros((BLOCK_N,), tl.int32)"

# fmt: off
mistakes = [
    Mistake("every sum is divided by the whole window",
            {COUNT: "count = (2 * radius + 1) * (2 * radius + 1)"}, "divided by (2·radius + 1)²"),
    Mistake("windows run on into the next row", {LOAD: "tl.load(row_ptr + cols, mask=inside, other=0)"},
            ("runs on into the next row", "image")),
    Mistake("rows above the image are read", {INSIDE: "inside = row < height"}, "before the start of image"),
    Mistake("rows below the image are read", {INSIDE: "inside = row >= 0"}, "past the end of image"),
    Mistake("the next byte is taken for the next pixel", {COLS: "cols = offs_n + dx"}, "channels are mixed"),
    Mistake("sums are kept in bytes", {SUMS: SUMS.replace("int32", "uint8")}, "kept in bytes"),
    Mistake("sums are kept in 16 bits",
            {SUMS: SUMS.replace("int32", "int16"), TOTAL: TOTAL.replace("int32", "int16")},
            "kept in two bytes", fails="correct or edges"),
    Mistake("the mean is rounded down", {MEAN: "mean = acc // count"}, "rounded down"),
    Mistake("the mean is rounded up", {MEAN: "mean = (acc + count - 1) // count"}, "rounded up"),
    Mistake("half of the wrong number is added", {MEAN: "mean = (acc + radius) // count"}, "is right"),
    Mistake("the window ends a pixel early on the right", {TAPS: "for dx in range(-radius, radius):"},
            "Windows end a pixel early on the right"),
    Mistake("a row is as long as the image is wide", {LENGTH: "n = width\n"}, ("is right", "never written")),
    Mistake("only whole strips are launched",
            {GRID: GRID.replace("triton.cdiv(height, BLOCK_M)", "max(height // BLOCK_M, 1)")},
            "never written"),
    Mistake("programs go on below the image", {ROWS: "for row in range(first, first + BLOCK_M):"},
            "past the end"),
    Mistake(
        "the means are still to be stored",
        {
            f"        {DOWN}\n        {COUNT}\n        {MEAN}\n        {STORE}\n": (
                "        # TODO 4: count the pixels of the window, and store the mean, rounded half up.\n"
            )
        },
        ("never written", "Still in the file is"),
    ),
    Mistake("torch widens the bytes",
            {"    box_blur_kernel[grid](image,": "    box_blur_kernel[grid](image.int(),"},
            "torch converted a tensor first", fails="correct or honest"),
]
