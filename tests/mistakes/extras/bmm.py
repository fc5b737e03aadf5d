"""Extra: what batches of products get wrong, and what the grader must say about it."""

from __future__ import annotations

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
        swap={"a_ptr + g * stride_ag + ": "a_ptr + "},
        fails="correct",
        says="batch stride of a is left out",
    ),
    Mistake(
        "b's batch stride is left out",
        swap={"b_ptr + g * stride_bg + ": "b_ptr + "},
        fails="correct",
        says="batch stride of b is left out",
    ),
    Mistake(
        "b is read with a's batch stride",
        swap={"b_ptr + g * stride_bg + ": "b_ptr + g * stride_ag + "},
        fails="correct",
        says="batch stride of a",
    ),
    Mistake(
        "matrices are taken to lie side by side",
        swap={"a_ptr + g * stride_ag + ": "a_ptr + g * m * k + "},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "every product is written over the first",
        swap={C: C.replace("g * m + ", "")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "matrices of c are taken to be n apart",
        swap={C: C.replace("(g * m + offs_m[:, None]) * n", "g * n + offs_m[:, None] * n")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the tiles of one matrix alone are counted",
        swap={TILES: TILES.replace("batch * ", "")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the batch is an axis of its own, which ends at 65535",
        swap={
            GRID: "bmm_kernel[(min(tiles, programs), batch)](",
            TILES: TILES.replace("batch * ", ""),
            G: "g = tl.program_id(1).to(tl.int64)",
        },
        fails="limit",
        says="65535",
    ),
    Mistake(
        "the matrix's number stays 32 bits wide",
        swap={G: "g = pid // tiles"},
        fails="limit",
        says="in int32",
    ),
    Mistake(
        "pieces of k are 8 wide",
        swap={"(64, 64, 32)": "(64, 64, 8)"},
        fails="correct",
        says="K >= 16",
    ),
    Mistake(
        "a is not masked along k",
        swap={LOAD_A: "a = tl.load(a_ptrs, mask=rows[:, None], other=0.0)"},
        fails="correct",
        says="both sides",
    ),
    Mistake(
        "b is not masked along k",
        swap={LOAD_B: "b = tl.load(b_ptrs, mask=cols[None, :], other=0.0)"},
        fails="correct",
        says="both sides",
    ),
    Mistake(
        "a's mask along k ends one too early",
        swap={LOAD_A: LOAD_A.replace("inner[None, :]", "(offs_k < left - 1)[None, :]")},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the last, partial piece of k is left out",
        swap={LOOP: "range(k, BLOCK_K - 1, -BLOCK_K)"},
        fails="correct",
        says="last, partial one is left out",
    ),
    Mistake(
        "only the last piece of k counts",
        swap={DOT: DOT.replace(", acc,", ",")},
        fails="correct",
        says="the sum of those before",
    ),
    Mistake(
        "fp32 is left to tl.dot, which cuts it to TF32",
        swap={DOT: "acc = tl.dot(a, b, acc)"},
        fails="correct",
        says="TF32",
    ),
    Mistake(
        "the sums are rounded to fp16 at every turn",
        swap={DOT: 'acc += tl.dot(a, b, input_precision="ieee").to(a.dtype)'},
        fails="edges",
        says="fp16",
    ),
    Mistake(
        "b's columns are taken to lie side by side",
        swap={"offs_n[None, :] * stride_bn": "offs_n[None, :]"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "a tile's rows are counted in int32",
        swap={"offs_m = (tile // tiles_n).to(tl.int64) *": "offs_m = (tile // tiles_n) *"},
        fails="limit",
        says="in int32",
    ),
    Mistake(
        "a's elements are taken to lie side by side where it has one row",
        swap={"        *a.stride(),": "        *a.stride()[:2],\n        a.stride(2) if m > 1 else 1,"},
        fails="edges",
        says="loads from a gap between",
    ),
    Mistake(
        "torch copies strided matrices first",
        swap={ALLOCATION: f"{ALLOCATION}\n    a, b = a.contiguous(), b.contiguous()"},
        fails="honest",
        says="strides",
    ),
    Mistake("torch does the work", swap={RETURN: "    return a @ b"}, fails="honest", says="torch"),
]
