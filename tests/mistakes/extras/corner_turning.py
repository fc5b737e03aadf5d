"""Extra: what a product with the second operand turned gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ALLOCATION = "    c = torch.empty(m, n, dtype=a.dtype, device=a.device)"
B_PTRS = "b_ptrs = b_ptr + offs_n[:, None] * stride_bn + offs_k[None, :].to(tl.int64) * stride_bk"
DOT = "acc = tl.dot(a, tl.trans(b), acc)"
GRID = "(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)"
LOAD_A = "a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0.0)"
LOAD_B = "b = tl.load(b_ptrs, mask=cols[:, None] & inner[None, :], other=0.0)"
LOOP = "range(k, 0, -BLOCK_K)"
STORE = "tl.store(c_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=rows[:, None] & cols[None, :])"

mistakes = [
    Mistake(
        "a is not masked along k",
        swap={LOAD_A: "a = tl.load(a_ptrs, mask=rows[:, None], other=0.0)"},
        fails="correct",
        says="both sides",
    ),
    Mistake(
        "b's tile is not masked along k, its second axis now",
        swap={LOAD_B: "b = tl.load(b_ptrs, mask=cols[:, None], other=0.0)"},
        fails="correct",
        says="both sides",
    ),
    Mistake(
        "b's tile is masked along k alone, and its rows run past the last",
        swap={LOAD_B: "b = tl.load(b_ptrs, mask=inner[None, :], other=0.0)"},
        fails="correct",
        says="past the end of b",
    ),
    Mistake(
        "b's mask is built for the tile as it was before it was turned",
        swap={LOAD_B: LOAD_B.replace("cols[:, None] & inner[None, :]", "inner[:, None] & cols[None, :]")},
        fails="correct",
        says="do not fit together",
    ),
    Mistake(
        "a is turned, and b is not",
        swap={DOT: "acc = tl.dot(tl.trans(a), b, acc)"},
        fails="correct",
        says="tl.dot",
    ),
    Mistake(
        "b is not turned at all",
        swap={DOT: "acc = tl.dot(a, b, acc)"},
        fails="correct",
        says="tl.dot",
    ),
    Mistake(
        "b is turned twice, by its pointers and on the chip",
        swap={
            B_PTRS: "b_ptrs = b_ptr + offs_k[:, None].to(tl.int64) * stride_bk + offs_n[None, :] * stride_bn",
            LOAD_B: "b = tl.load(b_ptrs, mask=inner[:, None] & cols[None, :], other=0.0)",
        },
        fails="correct",
        says="tl.dot",
    ),
    Mistake(
        "b's two strides change places",
        swap={"        *b.stride(),": "        b.stride(1),\n        b.stride(0),"},
        fails="correct",
        says="stride",
    ),
    Mistake(
        "b's rows are taken to be k apart",
        swap={"offs_n[:, None] * stride_bn": "offs_n[:, None] * k"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "elements of b's rows are taken to lie side by side",
        swap={B_PTRS: B_PTRS.replace(" * stride_bk", "")},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "n is taken from the wrong side of b",
        swap={"m, n = a.shape[0], b.shape[0]": "m, n = a.shape[0], b.shape[1]"},
        fails="correct",
        says="shape",
    ),
    Mistake(
        "k is taken from the wrong side of b",
        swap={"        a.shape[1],": "        b.shape[0],"},
        fails="correct",
        says="past the end of",
    ),
    Mistake(
        "b's pointers never move on",
        swap={"        b_ptrs += step * stride_bk\n": ""},
        fails="correct",
        says="first piece",
    ),
    Mistake(
        "b's pointers move on by whole rows",
        swap={"b_ptrs += step * stride_bk": "b_ptrs += step * stride_bn"},
        fails="correct",
        says="past the end of b",
    ),
    Mistake(
        "the last, partial piece of k is left out",
        swap={LOOP: "range(k, BLOCK_K - 1, -BLOCK_K)"},
        fails="correct",
        says="last, partial one is left out",
    ),
    Mistake(
        "only the last piece of k counts",
        swap={DOT: "acc = tl.dot(a, tl.trans(b))"},
        fails="correct",
        says="the sum of those before",
    ),
    Mistake(
        "the sums are rounded to fp16 at every turn",
        swap={DOT: "acc += tl.dot(a, tl.trans(b)).to(a.dtype)"},
        fails="correct or edges",
        says="Compute in fp32, and round once",
    ),
    Mistake(
        "the result is written turned",
        swap={
            STORE: STORE.replace(
                "offs_m[:, None] * n + offs_n[None, :]", "offs_n[None, :] * m + offs_m[:, None]"
            )
        },
        fails="correct",
        says="transposed",
    ),
    Mistake(
        "the store has no mask",
        swap={STORE: STORE.replace(", mask=rows[:, None] & cols[None, :]", "")},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake(
        "partial tiles at the edges get no program",
        swap={GRID: "(m // BLOCK_M * (n // BLOCK_N),)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "torch copies b, turned",
        swap={ALLOCATION: f"{ALLOCATION}\n    b = b.T.contiguous().T"},
        fails="honest",
        says="torch",
    ),
    Mistake("torch does the work", swap={"    return c": "    return a @ b.T"}, fails="honest", says="torch"),
]
