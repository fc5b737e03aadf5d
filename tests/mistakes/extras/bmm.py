"""Extra: what batches of products get wrong, and what the grader must say about it."""

from tools.planted import Mistake

C = "c_ptrs = c_ptr + (g * m + offs_m[:, None]) * n + offs_n[None, :]"
DOT = 'acc = tl.dot(a, b, acc, input_precision="ieee")'
LOAD_A = "a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0.0)"
LOOP = "range(k, 0, -BLOCK_K)"
RETURN = "    return c"

# fmt: off
mistakes = [
    Mistake("a's batch stride is left out", {"a_ptr + g * stride_ag + ": "a_ptr + "},
            "batch stride of a is left out"),
    Mistake("b's batch stride is left out", {"b_ptr + g * stride_bg + ": "b_ptr + "},
            "batch stride of b is left out"),
    Mistake("b is read with a's batch stride", {"b_ptr + g * stride_bg + ": "b_ptr + g * stride_ag + "},
            "batch stride of a"),
    Mistake("matrices are taken to lie side by side", {"a_ptr + g * stride_ag + ": "a_ptr + g * m * k + "},
            "stride", fails="edges"),
    Mistake("every product is written over the first", {C: C.replace("g * m + ", "")}, "never written"),
    Mistake("pieces of k are 8 wide", {"(64, 64, 32)": "(64, 64, 8)"}, "K >= 16"),
    Mistake("a is not masked along k", {LOAD_A: "a = tl.load(a_ptrs, mask=rows[:, None], other=0.0)"},
            "both sides"),
    Mistake("a's mask along k ends one too early",
            {LOAD_A: LOAD_A.replace("inner[None, :]", "(offs_k < left - 1)[None, :]")}, "is right"),
    Mistake("the last, partial piece of k is left out", {LOOP: "range(k, BLOCK_K - 1, -BLOCK_K)"},
            "last, partial one is left out"),
    Mistake("only the last piece of k counts", {DOT: DOT.replace(", acc,", ",")}, "the sum of those before"),
    Mistake("the sums are rounded to fp16 at every turn",
            {DOT: 'acc += tl.dot(a, b, input_precision="ieee").to(a.dtype)'}, "fp16", fails="edges"),
    Mistake("a's elements are taken to lie side by side where it has one row",
            {"        *a.stride(),": "        *a.stride()[:2],\n        a.stride(2) if m > 1 else 1,"},
            "loads from a gap between", fails="edges"),
    Mistake("torch does the work", {RETURN: "    return a @ b"}, "torch", fails="honest"),
]
