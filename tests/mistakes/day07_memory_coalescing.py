"""Day 07: what a transpose gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALLOCATION = "y = torch.empty(n, m, dtype=x.dtype, device=x.device)"
GRID = "(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)"
COLUMNS = "offs_n = (pid % tiles_n).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)"
LOAD = "x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :] * stride_xn, mask=mask)"
MASK = "mask = (offs_m[:, None] < m) & (offs_n[None, :] < n)"
PID = "pid = tl.program_id(0)\n    tiles_n = tl.cdiv(n, BLOCK_N)\n    # 64 bits, as on day 06.\n"
POINTERS = "y_ptrs = y_ptr + offs_n[:, None] * m + offs_m[None, :]"
RETURN = "    return y"
ROWS = "offs_m = (pid // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)"
STORE = "tl.store(y_ptrs, tl.trans(x), mask=tl.trans(mask))"
WALK = """tiles_n = tl.cdiv(n, BLOCK_N)
    for tile in range(tl.program_id(0), tl.cdiv(m, BLOCK_M) * tiles_n, tl.num_programs(0) + 1):
"""
TILE = "BLOCK_M, BLOCK_N = 64, 64"

# fmt: off
mistakes = [
    Mistake("the tile is moved, but not turned over", {"tl.trans(x)": "x"}, "is right"),
    Mistake("the mask is not turned over", {"tl.trans(mask)": "mask"}, "never written"),
    Mistake("the mask is not turned over, in a tile that is not square",
            {"tl.trans(mask)": "mask", TILE: "BLOCK_M, BLOCK_N = 32, 64"}, "do not fit together"),
    Mistake("rows of y are taken to be n apart", {"offs_n[:, None] * m": "offs_n[:, None] * n"}, "stride"),
    Mistake("columns of x are taken to lie side by side", {"offs_n[None, :] * stride_xn": "offs_n[None, :]"},
            "stride", fails="edges"),
    Mistake("the mask has rows only", {MASK: "mask = offs_m[:, None] < m"}, "both sides"),
    Mistake("the mask's sides are swapped", {MASK: "mask = (offs_m[:, None] < n) & (offs_n[None, :] < m)"},
            "past the end of"),
    Mistake(
        "the load has no mask",
        {"* stride_xn, mask=mask)": "* stride_xn)"},
        "Unmasked load",
        on_gpu="touched memory outside of every tensor",  # in a case of 8 million elements
    ),
    Mistake("the store has no mask", {", mask=tl.trans(mask))": ")"}, "Unmasked store"),
    Mistake("the grid rounds down", {GRID: "((m // BLOCK_M) * (n // BLOCK_N),)"}, "ound up"),
    Mistake("the result has the shape of x", {ALLOCATION: "y = torch.empty_like(x)"}, "shape"),
    Mistake("the result is always fp32", {"dtype=x.dtype, ": ""}, "dtype"),
    Mistake("a view of x is returned", {RETURN: "    return x.T"}, "input"),
    Mistake("torch does the work", {RETURN: "    return x.T.clone(memory_format=torch.contiguous_format)"},
            "torch", fails="honest"),
    Mistake("the columns of tiles are on axis 1 of the grid",
            {"pid // tiles_n": "pid", "pid % tiles_n": "tl.program_id(1)",
             GRID: "(triton.cdiv(m, BLOCK_M), triton.cdiv(n, BLOCK_N))"}, "65535", fails="limit"),
    Mistake("half done: x is read, and nothing is stored",
            {"tl.store(y_ptrs, tl.trans(x), mask=tl.trans(mask))": "pass"}, "launches no kernel yet",
            undone=("transpose",),
            so_far="reads of x ✓ · not started: stores of y, values, launcher · not judged: bounds"),
    Mistake("half done: the launch alone", {}, "never written", undone=("transpose_kernel",),
            so_far="launcher ✓ · not started: reads of x, stores of y, bounds, values"),
    Mistake("132 programs walk along the tiles, with a step too long by one",
            {GRID: "(min(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N), 132),)", PID: WALK,
             ROWS: "    " + ROWS.replace("pid //", "tile //"),
             COLUMNS: "    " + COLUMNS.replace("pid %", "tile %"),
             **{line: f"    {line}" for line in (MASK, LOAD, POINTERS, STORE)}},
            "elements were never written", fails="correct or edges", on_gpu="were never written"),
    Mistake(
        "at most 1024 programs, and none takes a second tile",
        {GRID: "(min(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N), 1024),)"},
        "part of it is left out",
        fails="fast",
        cpu=True,  # a GPU's large case fails first
    ),
    Mistake("tiles go through fp32", {"tl.trans(x), mask": "tl.trans(x.to(tl.float32)), mask"}, "is right",
            fails="edges"),
    Mistake("a stride of 0 along the columns is taken for 1",
            {"x.stride(0), x.stride(1), BLOCK_M": "x.stride(0), x.stride(1) or 1, BLOCK_M"},
            "past the end of", fails="edges"),
]
