"""Day 05: what a first kernel in two dimensions gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ADDRESS = "out_ptr + offs_m[:, None].to(tl.int64) * n + offs_n[None, :]"
GRID = "(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)"
LAUNCH = "outer_add_kernel[grid](x, y, out, m, n, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)"
LOADS = """    x = tl.load(x_ptr + offs_m, mask=mask_m)
    y = tl.load(y_ptr + offs_n, mask=mask_n)
"""
MASK = "mask=mask_m[:, None] & mask_n[None, :]"
RETURN = "    return out"
SUMS = "x[:, None] + y[None, :]"
TILE = "BLOCK_M, BLOCK_N = 32, 128"
WHOLE_STORE = f"tl.store(out_ptrs, {SUMS}, {MASK})"

mistakes = [
    Mistake(
        "rows go unmasked where the columns fill whole blocks",
        swap={"mask_m = offs_m < m": "mask_m = (offs_m < m) | (n % BLOCK_N == 0)"},
        fails="correct",
        says="lets every lane through",
    ),
    Mistake(
        "rows are held against the number of columns",
        swap={"mask_m = offs_m < m": "mask_m = offs_m < n"},
        fails="correct",
        says="past the end of",
    ),
    Mistake(
        "rows of out are taken to be m apart",
        swap={"to(tl.int64) * n": "to(tl.int64) * m"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the mask has rows only", swap={MASK: "mask=mask_m[:, None]"}, fails="correct", says="both sides"
    ),
    Mistake(
        "the mask has columns only", swap={MASK: "mask=mask_n[None, :]"}, fails="correct", says="both sides"
    ),
    Mistake(
        "rows of out are taken to be 1 apart",
        swap={ADDRESS: ADDRESS.replace(" * n", "")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "rows of out are taken to be a tile apart",
        swap={ADDRESS: ADDRESS.replace("* n", "* BLOCK_N")},
        fails="correct",
        says="a stride is wrong",
    ),
    Mistake("the store has no mask", swap={f", {MASK}": ""}, fails="correct", says="Unmasked store"),
    Mistake("x is read without a mask", swap={", mask=mask_m)": ")"}, fails="correct", says="Unmasked load"),
    Mistake(
        "y is masked by the number of rows",
        swap={"offs_n < n": "offs_n < m"},
        fails="correct",
        says="Columns from",
    ),
    Mistake(
        "x runs along the columns and y along the rows",
        swap={SUMS: "x[None, :] + y[:, None]", TILE: "BLOCK_M, BLOCK_N = 64, 64"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the same, in a tile that is not square",
        swap={SUMS: "x[None, :] + y[:, None]"},
        fails="correct",
        says="do not fit together",
    ),
    Mistake(
        "the sides are added as they are", swap={SUMS: "x + y"}, fails="correct", says="do not fit together"
    ),
    Mistake(
        "only the row of tiles is computed from the number, both ways",
        swap={"pid_n = pid % tiles_n": "pid_n = pid // tiles_n"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "tile rows and tile columns are counted by the wrong side",
        swap={"tl.cdiv(n, BLOCK_N)\n": "tl.cdiv(m, BLOCK_M)\n"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the columns of tiles are counted by n and BLOCK_M",
        swap={"tl.cdiv(n, BLOCK_N)\n": "tl.cdiv(n, BLOCK_M)\n"},
        fails="correct",
        says="Rows from 32 on were never written: none of 4 programs stores there",
    ),
    Mistake(
        "the grid adds rows and columns of tiles",
        swap={GRID: GRID.replace(" * ", " + ")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the grid is as many tiles as fit into the number of elements",
        swap={GRID: "(triton.cdiv(m * n, BLOCK_M * BLOCK_N),)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the grid has one column of tiles",
        swap={GRID: "(triton.cdiv(m, BLOCK_M),)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the grid rounds down",
        swap={GRID: "((m // BLOCK_M) * (n // BLOCK_N),)"},
        fails="correct",
        says="ound up",
    ),
    Mistake(
        "every program takes tile 0",
        swap={"pid = tl.program_id(0)": "pid = 0"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the sides are multiplied", swap={SUMS: "x[:, None] * y[None, :]"}, fails="correct", says="result is"
    ),
    Mistake("the result is always fp32", swap={"dtype=x.dtype, ": ""}, fails="correct", says="dtype"),
    Mistake(
        "the matrix is allocated the wrong way round",
        swap={"torch.empty(m, n,": "torch.empty(n, m,"},
        fails="correct",
        says="shape",
    ),
    Mistake("nothing is returned", swap={RETURN: "    out"}, fails="correct", says="returns nothing"),
    Mistake(
        "torch does the work",
        swap={RETURN: "    return x[:, None] + y[None, :]"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "torch's outer product, which multiplies, does the work",
        swap={f"{LAUNCH}\n{RETURN}": "return torch.outer(x, y)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "torch.add does the work in the kernel, of what was never read",
        swap={LOADS: "", f"{SUMS}, mask": "torch.add(x[:, None], y[None, :]), mask"},
        fails="correct",
        says="does not run in a kernel",
    ),
    Mistake(
        "x and y are never read",
        swap={LOADS: ""},
        fails="correct",
        says="tl.load(x_ptr + offsets) reads what lies where x_ptr points",
    ),
    Mistake(
        "half done: x and y are read, and nothing is stored",
        swap={WHOLE_STORE: "pass"},
        fails="correct",
        says="launches no kernel yet",
        undone=("outer_add",),
        so_far="reads of x and y ✓ · not started: stores of out, sums, launcher · not judged: bounds",
    ),
    Mistake(
        "half done: a mask that has rows only, and no launch",
        swap={MASK: "mask=mask_m[:, None]"},
        fails="correct",
        says="launches no kernel yet",
        undone=("outer_add",),
        so_far="reads of x and y ✓ · stores of out ✓ · bounds ✗ · sums ✗ · not started: launcher",
    ),
]
