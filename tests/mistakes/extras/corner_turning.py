"""Extra: what a product with the second operand turned gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

DOT = "acc = tl.dot(a, tl.trans(b), acc)"
GRID = "(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)"
LOAD_A = "a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0.0)"
LOAD_B = "b = tl.load(b_ptrs, mask=cols[:, None] & inner[None, :], other=0.0)"
LOOP = "range(k, 0, -BLOCK_K)"
STORE = "tl.store(c_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=rows[:, None] & cols[None, :])"

# fmt: off
mistakes = [
    Mistake("a is not masked along k", {LOAD_A: "a = tl.load(a_ptrs, mask=rows[:, None], other=0.0)"},
            "both sides"),
    Mistake("b's tile is masked along k alone, and its rows run past the last",
            {LOAD_B: "b = tl.load(b_ptrs, mask=inner[None, :], other=0.0)"}, "past the end of b"),
    Mistake("b's mask is built for the tile as it was before it was turned",
            {LOAD_B: LOAD_B.replace("cols[:, None] & inner[None, :]", "inner[:, None] & cols[None, :]")},
            "do not fit together"),
    Mistake("a is turned, and b is not", {DOT: "acc = tl.dot(tl.trans(a), b, acc)"}, "tl.dot"),
    Mistake("b's two strides change places",
            {"        *b.stride(),": "        b.stride(1),\n        b.stride(0),"}, "stride"),
    Mistake("b's rows are taken to be k apart", {"offs_n[:, None] * stride_bn": "offs_n[:, None] * k"},
            "stride", fails="edges"),
    Mistake("k is taken from the wrong side of b", {"        a.shape[1],": "        b.shape[0],"},
            "past the end of"),
    Mistake("b's pointers never move on", {"        b_ptrs += step * stride_bk\n": ""}, "first piece"),
    Mistake("the last, partial piece of k is left out", {LOOP: "range(k, BLOCK_K - 1, -BLOCK_K)"},
            "last, partial one is left out"),
    Mistake("only the last piece of k counts", {DOT: "acc = tl.dot(a, tl.trans(b))"},
            "the sum of those before"),
    Mistake("the sums are rounded to fp16 at every turn", {DOT: "acc += tl.dot(a, tl.trans(b)).to(a.dtype)"},
            "Compute in fp32, and round once", fails="correct or edges"),
    Mistake(
        "the result is written turned",
        {
            STORE: STORE.replace(
                "offs_m[:, None] * n + offs_n[None, :]", "offs_n[None, :] * m + offs_m[:, None]"
            )
        },
        "is right",
    ),
    Mistake("the store has no mask", {STORE: STORE.replace(", mask=rows[:, None] & cols[None, :]", "")},
            "Unmasked store"),
    Mistake("partial tiles at the edges get no program", {GRID: "(m // BLOCK_M * (n // BLOCK_N),)"},
            "never written"),
    Mistake("torch does the work", {"    return c": "    return a @ b.T"}, "torch", fails="honest"),
]
