"""Extra: what batches of products get wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALLOCATION = "    batch, m, n = c.shape"
C = "c_ptrs = c_ptr + (g * m + offs_m[:, None]) * n + offs_n[None, :]"
DOT = 'acc = tl.dot(a, b, acc, input_precision="ieee")'
G = "g = (pid // tiles).to(tl.int64)"
GRID = "bmm_kernel[(min(tiles, programs),)]("
LOAD_A = "a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0.0)"
LOAD_B = "b = tl.load(b_ptrs, mask=inner[:, None] & cols[None, :], other=0.0)"
LOOP = "range(k, 0, -BLOCK_K)"
RETURN = "    return c"
TILES = "tl.range(tl.program_id(0), batch * tiles, tl.num_programs(0), flatten=True)"

mistakes = [
    Mistake(
        "a's batch stride is left out",
        {"a_ptr + g * stride_ag + ": "a_ptr + "},
        "batch stride of a is left out",
    ),
    Mistake(
        "b's batch stride is left out",
        {"b_ptr + g * stride_bg + ": "b_ptr + "},
        "batch stride of b is left out",
    ),
    Mistake(
        "b is read with a's batch stride",
        {"b_ptr + g * stride_bg + ": "b_ptr + g * stride_ag + "},
        "batch stride of a",
    ),
    Mistake(
        "matrices are taken to lie side by side",
        {"a_ptr + g * stride_ag + ": "a_ptr + g * m * k + "},
        "stride",
        fails="edges",
    ),
    Mistake("every product is written over the first", {C: C.replace("g * m + ", "")}, "never written"),
    Mistake(
        "matrices of c are taken to be n apart",
        {C: C.replace("(g * m + offs_m[:, None]) * n", "g * n + offs_m[:, None] * n")},
        "never written",
    ),
    Mistake(
        "the tiles of one matrix alone are counted", {TILES: TILES.replace("batch * ", "")}, "never written"
    ),
    Mistake(
        "the batch is an axis of its own, which ends at 65535",
        {
            GRID: "bmm_kernel[(min(tiles, programs), batch)](",
            TILES: TILES.replace("batch * ", ""),
            G: "g = tl.program_id(1).to(tl.int64)",
        },
        "65535",
        fails="limit",
    ),
    Mistake("the matrix's number stays 32 bits wide", {G: "g = pid // tiles"}, "in int32", fails="limit"),
    Mistake("pieces of k are 8 wide", {"(64, 64, 32)": "(64, 64, 8)"}, "K >= 16"),
    Mistake(
        "a is not masked along k",
        {LOAD_A: "a = tl.load(a_ptrs, mask=rows[:, None], other=0.0)"},
        "both sides",
    ),
    Mistake(
        "b is not masked along k",
        {LOAD_B: "b = tl.load(b_ptrs, mask=cols[None, :], other=0.0)"},
        "both sides",
    ),
    Mistake(
        "a's mask along k ends one too early",
        {LOAD_A: LOAD_A.replace("inner[None, :]", "(offs_k < left - 1)[None, :]")},
        "is right",
    ),
    Mistake(
        "the last, partial piece of k is left out",
        {LOOP: "range(k, BLOCK_K - 1, -BLOCK_K)"},
        "last, partial one is left out",
    ),
    Mistake("only the last piece of k counts", {DOT: DOT.replace(", acc,", ",")}, "the sum of those before"),
    Mistake("fp32 is left to tl.dot, which cuts it to TF32", {DOT: "acc = tl.dot(a, b, acc)"}, "TF32"),
    Mistake(
        "the sums are rounded to fp16 at every turn",
        {DOT: 'acc += tl.dot(a, b, input_precision="ieee").to(a.dtype)'},
        "fp16",
        fails="edges",
    ),
    Mistake(
        "b's columns are taken to lie side by side",
        {"offs_n[None, :] * stride_bn": "offs_n[None, :]"},
        "stride",
        fails="edges",
    ),
    Mistake(
        "a tile's rows are counted in int32",
        {"offs_m = (tile // tiles_n).to(tl.int64) *": "offs_m = (tile // tiles_n) *"},
        "in int32",
        fails="limit",
    ),
    Mistake(
        "a's elements are taken to lie side by side where it has one row",
        {"        *a.stride(),": "        *a.stride()[:2],\n        a.stride(2) if m > 1 else 1,"},
        "loads from a gap between",
        fails="edges",
    ),
    Mistake(
        "torch copies strided matrices first",
        {ALLOCATION: f"{ALLOCATION}\n    a, b = a.contiguous(), b.contiguous()"},
        "strides",
        fails="honest",
    ),
    Mistake("torch does the work", {RETURN: "    return a @ b"}, "torch", fails="honest"),
]
