"""Extra: what a product without tl.dot gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

INNER = "inner = offs_k < k"
LOAD_A = "a = tl.load(a_ptrs, mask=inner[:, None] & rows[None, :], other=0.0)"
LOAD_B = "b = tl.load(b_ptrs, mask=inner[:, None] & cols[None, :], other=0.0)"
LOOP = "tl.range(0, k, BLOCK_K, num_stages=3)"
STORE = "tl.store(c_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=rows[:, None] & cols[None, :])"
SUM = "acc += tl.sum(a[:, :, None] * b[:, None, :], axis=0)"

# fmt: off
mistakes = [
    Mistake("a is not masked along k", {LOAD_A: "a = tl.load(a_ptrs, mask=rows[None, :], other=0.0)"},
            "both sides"),
    Mistake("neither is masked at all", {LOAD_A: "a = tl.load(a_ptrs)", LOAD_B: "b = tl.load(b_ptrs)"},
            "Unmasked load"),
    Mistake("the mask along k lets one lane too many pass", {INNER: "inner = offs_k <= k"},
            "past the end of a"),
    Mistake("the last, partial piece of k is left out",
            {LOOP: "tl.range(0, k // BLOCK_K * BLOCK_K, BLOCK_K, num_stages=3)"},
            "last, partial one is left out"),
    Mistake("only the last piece of k counts", {SUM: SUM.replace("+=", "=")}, "the sum of those before"),
    Mistake("every turn takes the first piece of k",
            {"(start + tl.arange(0, BLOCK_K)).to(tl.int64)": "tl.arange(0, BLOCK_K).to(tl.int64)"},
            "first piece"),
    Mistake("a's strides are taken for each other",
            {"        *a.stride(),": "        a.stride(1),\n        a.stride(0),"}, "stride"),
    Mistake("b's columns are taken to lie side by side", {"offs_n[None, :] * stride_bn": "offs_n[None, :]"},
            "stride", fails="edges"),
    Mistake("m and n change places in the number of tiles",
            {"tiles_n = tl.cdiv(n, BLOCK_N)": "tiles_n = tl.cdiv(m, BLOCK_N)"}, "never written"),
    Mistake("the store has no mask", {STORE: STORE.replace(", mask=rows[:, None] & cols[None, :]", "")},
            "Unmasked store"),
    Mistake("a and b are multiplied element by element, and added along the wrong axis",
            {SUM: SUM.replace("axis=0", "axis=1")}, "do not fit together"),
    Mistake("torch does the work", {"    return c": "    return a @ b"}, "torch", fails="honest"),
    # On a GPU, Triton makes a TF32 product of it.
    Mistake("k is the middle axis of the products",
            {SUM: "acc += tl.sum(tl.trans(a)[:, :, None] * b[None, :, :], axis=1)"}, "TF32", gpu=True,
            wish=True),
]
