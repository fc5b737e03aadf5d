"""Extra: what strips of several tiles get wrong, and what the grader must say about it."""

from tools.planted import Mistake

ACC = "        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)\n"
DOT = "acc = tl.dot(a, b, acc)"
FIRST = "first_n = (tl.program_id(0) % strips).to(tl.int64) * STRIP_N"
GRID = "strip_kernel[(triton.cdiv(m, block) * triton.cdiv(n, strip),)]("
LOAD_A = "a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0.0)"
LOAD_B = "b = tl.load(b_ptrs, mask=inner[:, None] & cols[None, :], other=0.0)"
LOOP = "range(k, 0, -BLOCK_K)"
STRIPS = "strips = tl.cdiv(n, STRIP_N)"
WIDTH = "BLOCK_N = width_of(a, strip)"

# As strips are walked tile by tile: then most mistakes show in every strip.
BY_TILE = {WIDTH: "BLOCK_N = block"}

# fmt: off
mistakes = [
    Mistake("a program for every tile, not for every strip",
            {GRID: "strip_kernel[(triton.cdiv(m, block) * triton.cdiv(n, block),)]("}, "program"),
    Mistake("strips are counted by tiles", {STRIPS: "strips = tl.cdiv(n, BLOCK_M)"}, "never written"),
    Mistake("a strip begins where its first tile would, were there no others",
            {FIRST: FIRST.replace("* STRIP_N", "* BLOCK_M")},
            ("stores another value where another program", "never written")),
    Mistake("the tiles of a strip share one block of sums",
            BY_TILE | {ACC: "", "    rows = offs_m < m\n": f"    rows = offs_m < m\n{ACC[4:]}"},
            "not begun anew"),
    Mistake(
        "every tile of a strip takes the first one's columns of b",
        BY_TILE
        | {
            "offs_k[:, None].to(tl.int64) * n + offs_n[None, :]": (
                "offs_k[:, None].to(tl.int64) * n + (offs_n - start_n)[None, :]"
            )
        },
        "do not move on",
    ),
    Mistake("the loop along k steps by the block's height", {LOOP: "range(k, 0, -BLOCK_M)"},
            "past the end of a"),
    Mistake("a is not masked along k", {LOAD_A: "a = tl.load(a_ptrs, mask=rows[:, None], other=0.0)"},
            "both sides"),
    Mistake("b is not masked along n: strips end beyond the last column",
            {LOAD_B: "b = tl.load(b_ptrs, mask=inner[:, None], other=0.0)"}, "past the end of b"),
    Mistake("the last, partial piece of k is left out", {LOOP: "range(k, BLOCK_K - 1, -BLOCK_K)"},
            "last, partial one is left out"),
    Mistake("only the last piece of k counts", {DOT: "acc = tl.dot(a, b)"}, "the sum of those before"),
    Mistake("b's pointers move on by columns", {"b_ptrs += step * n": "b_ptrs += BLOCK_K"}, "is right"),
    Mistake("the sums are rounded to fp16 at every turn", {DOT: "acc += tl.dot(a, b).to(a.dtype)"},
            "Compute in fp32, and round once", fails="correct or edges"),
    Mistake("strips begin a block apart",
            {"% strips).to(tl.int64) * STRIP_N": "% strips).to(tl.int64) * BLOCK_N"}, "never written",
            fails="correct or edges"),
    Mistake("torch does the work", {"    return c": "    return a @ b"}, "torch", fails="honest"),
]
