"""Day 05: what a first kernel in two dimensions gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ADDRESS = "out_ptr + offs_m[:, None].to(tl.int64) * n + offs_n[None, :]"
GRID = "(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)"
LOADS = """    x = tl.load(x_ptr + offs_m, mask=mask_m)
    y = tl.load(y_ptr + offs_n, mask=mask_n)
"""
MASK = "mask=mask_m[:, None] & mask_n[None, :]"
RETURN = "    return out"
SUMS = "x[:, None] + y[None, :]"
TILE = "BLOCK_M, BLOCK_N = 32, 128"
WHOLE_STORE = f"tl.store(out_ptrs, {SUMS}, {MASK})"

# fmt: off
mistakes = [
    Mistake("rows go unmasked where the columns fill whole blocks",
            {"mask_m = offs_m < m": "mask_m = (offs_m < m) | (n % BLOCK_N == 0)"}, "lets every lane through"),
    Mistake("rows are held against the number of columns", {"mask_m = offs_m < m": "mask_m = offs_m < n"},
            "past the end of"),
    Mistake("rows of out are taken to be m apart", {"to(tl.int64) * n": "to(tl.int64) * m"}, "never written"),
    Mistake("the mask has rows only", {MASK: "mask=mask_m[:, None]"}, "both sides"),
    Mistake("rows of out are taken to be a tile apart", {ADDRESS: ADDRESS.replace("* n", "* BLOCK_N")},
            "a stride is wrong"),
    Mistake("the store has no mask", {f", {MASK}": ""}, "Unmasked store"),
    Mistake("x is read without a mask", {", mask=mask_m)": ")"}, "Unmasked load"),
    Mistake("y is masked by the number of rows", {"offs_n < n": "offs_n < m"}, "Columns from"),
    Mistake("x runs along the columns and y along the rows",
            {SUMS: "x[None, :] + y[:, None]", TILE: "BLOCK_M, BLOCK_N = 64, 64"}, "is right"),
    Mistake("the sides are added as they are", {SUMS: "x + y"}, "do not fit together"),
    Mistake("the columns of tiles are counted by n and BLOCK_M",
            {"tl.cdiv(n, BLOCK_N)\n": "tl.cdiv(n, BLOCK_M)\n"},
            "Rows from 32 on were never written: none of 4 programs stores there"),
    Mistake("the grid rounds down", {GRID: "((m // BLOCK_M) * (n // BLOCK_N),)"}, "ound up"),
    Mistake("the sides are multiplied", {SUMS: "x[:, None] * y[None, :]"}, "result is"),
    Mistake("the result is always fp32", {"dtype=x.dtype, ": ""}, "dtype"),
    Mistake("the matrix is allocated the wrong way round", {"torch.empty(m, n,": "torch.empty(n, m,"},
            "shape"),
    Mistake("nothing is returned", {RETURN: "    out"}, "returns nothing"),
    Mistake("torch does the work", {RETURN: "    return x[:, None] + y[None, :]"}, "torch", fails="honest"),
    Mistake("torch.add does the work in the kernel, of what was never read",
            {LOADS: "", f"{SUMS}, mask": "torch.add(x[:, None], y[None, :]), mask"},
            "does not run in a kernel"),
    Mistake("x and y are never read", {LOADS: ""},
            "tl.load(x_ptr + offsets) reads what lies where x_ptr points"),
    Mistake("half done: x and y are read, and nothing is stored", {WHOLE_STORE: "pass"},
            "launches no kernel yet", undone=("outer_add",),
            so_far="reads of x and y ✓ · not started: stores of out, sums, launcher · not judged: bounds"),
    Mistake("half done: a mask that has rows only, and no launch", {MASK: "mask=mask_m[:, None]"},
            "launches no kernel yet", undone=("outer_add",),
            so_far="reads of x and y ✓ · stores of out ✓ · bounds ✗ · sums ✗ · not started: launcher"),
]
