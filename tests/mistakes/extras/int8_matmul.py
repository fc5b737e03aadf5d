"""Extra: what a scaled int8 product gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

DOT = "acc = tl.dot(a, b, acc, out_dtype=tl.int32)"
ACC = "acc = tl.zeros((BLOCK_M, BLOCK_N), tl.int32)"
SUM = "b_sum += tl.sum(b.to(tl.int32), axis=0)"
TAKEN = "acc -= zero[:, None] * b_sum[None, :]"
A = "a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0)"
B = "b = tl.load(b_ptrs, mask=inner[:, None] & cols[None, :], other=0)"
C = "c = acc.to(tl.float32) * a_scale[:, None] * b_scale[None, :]"
LOOP = "    for left in range(k, 0, -BLOCK_K):\n"
LOADED = "        zero = tl.load(a_zero_ptr + offs_m, mask=rows, other=0)\n"
ZERO = "    zero = tl.load(a_zero_ptr + offs_m, mask=rows, other=0) if HAS_ZERO else 0\n"
IN_8_BITS = "a = tl.where(inner[None, :], a - zero[:, None], 0).to(tl.int8) if HAS_ZERO else a"

mistakes = [
    Mistake(
        "the accumulator is fp32",
        swap={ACC: ACC.replace("int32", "float32"), DOT: "acc = tl.dot(a, b, acc)"},
        fails="correct",
        says="acc is a block of 16 × 16 fp32 before the loop",
        on_gpu="start it as what it becomes",
    ),
    Mistake(
        "out_dtype does not say int32",
        swap={DOT: "acc = tl.dot(a, b, acc, out_dtype=tl.float32)"},
        fails="correct",
        says="out_dtype",
    ),
    Mistake(
        "sums in fp32, of steps in int32",
        swap={
            ACC: ACC.replace("int32", "float32"),
            DOT: "acc += tl.dot(a, b).to(tl.float32)",
            TAKEN: TAKEN.replace("zero[:", "zero.to(tl.float32)[:"),
        },
        fails="correct",
        says="past 2²⁴",
    ),
    Mistake(
        "products of fp16, summed in fp16",
        swap={DOT: "acc += tl.dot(a.to(tl.float16), b.to(tl.float16), out_dtype=tl.float16).to(tl.int32)"},
        fails="correct",
        says="close but not close enough",
    ),
    Mistake("the zero points are left out", swap={TAKEN: "acc -= 0"}, fails="correct", says="left out"),
    Mistake(
        "the zero points are added",
        swap={TAKEN: TAKEN.replace("-=", "+=")},
        fails="correct",
        says="have to be taken out",
    ),
    Mistake(
        "a zero point is taken out once",
        swap={TAKEN: "acc -= zero[:, None]"},
        fails="correct",
        says="taken out once",
    ),
    Mistake(
        "a zero point goes times k",
        swap={TAKEN: "acc -= zero[:, None] * k"},
        fails="correct",
        says="number of elements",
    ),
    Mistake(
        "a zero point goes times the row's sum",
        swap={
            "b_sum = tl.zeros((BLOCK_N,)": "b_sum = tl.zeros((BLOCK_M,)",
            SUM: "b_sum += tl.sum(a.to(tl.int32), axis=1)",
            TAKEN: "acc -= (zero * b_sum)[:, None]",
        },
        fails="correct",
        says="sum of a's row",
    ),
    Mistake(
        "the zero point is taken out in int8",
        swap={LOOP: ZERO + LOOP, A: f"{A}\n        {IN_8_BITS}", LOADED: "", TAKEN: "acc -= 0"},
        fails="correct",
        says="wraps in int8",
    ),
    Mistake(
        "the columns' sums wrap in 8 bits",
        swap={SUM: "b_sum += tl.sum(b, axis=0, dtype=tl.int8).to(tl.int32)"},
        fails="correct",
        says="wrap in 8 bits",
    ),
    Mistake(
        "the columns' sums are those of the last step",
        swap={SUM: SUM.replace("+=", "=")},
        fails="correct",
        says="along k alone",
    ),
    Mistake(
        "the scales are swapped",
        swap={
            "tl.load(a_scale_ptr + offs_m, mask=rows": "tl.load(b_scale_ptr + offs_m, mask=offs_m < n",
            "tl.load(b_scale_ptr + offs_n, mask=cols": "tl.load(a_scale_ptr + offs_n, mask=offs_n < m",
        },
        fails="correct",
        says="swapped",
    ),
    Mistake(
        "a_scale is left out",
        swap={C: C.replace(" * a_scale[:, None]", "")},
        fails="correct",
        says="a_scale is left out",
    ),
    Mistake(
        "b_scale is left out",
        swap={C: C.replace(" * b_scale[None, :]", "")},
        fails="correct",
        says="b_scale is left out",
    ),
    Mistake(
        "the columns' sums read b as uint8",
        swap={SUM: SUM.replace("b.to(", "b.to(tl.uint8, bitcast=True).to(")},
        fails="correct",
        says="unsigned",
    ),
    Mistake(
        "bytes are turned into uint8 for the product",
        swap={DOT: DOT.replace("(a, b,", "(a.to(tl.uint8), b.to(tl.uint8),")},
        fails="correct",
        says="only int8 supported",
    ),
    Mistake(
        "-128 is cut to -127",
        swap={A: A + "\n        a = tl.maximum(a, -127).to(tl.int8)"},
        fails="correct",
        says="-127",
    ),
    Mistake(
        "the last, partial block of k is left out",
        swap={"range(k, 0, -BLOCK_K)": "range(k, BLOCK_K - 1, -BLOCK_K)"},
        fails="correct",
        says="partial one is left out",
    ),
    Mistake(
        "lanes past k are not masked",
        swap={
            A: A.replace(" & inner[None, :]", " & (offs_k >= 0)[None, :]"),
            B: B.replace("inner[:, None] & ", "(offs_k >= 0)[:, None] & "),
        },
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "blocks of k are 16 wide",
        swap={"BLOCK_K=128": "BLOCK_K=16"},
        fails="correct",
        says="tl.dot needs K >= 32",
        on_gpu="K >= 32",
    ),
    Mistake(
        "b is read as if its rows lay side by side",
        swap={"offs_k[:, None] * stride_bk + offs_n": "offs_k[:, None] * n + offs_n"},
        fails="correct",
        says="stride",
    ),
    Mistake(
        "rows of a are taken to be k apart",
        swap={"offs_m[:, None] * stride_am": "offs_m[:, None] * k"},
        fails="correct",
        says="stride",
    ),
    Mistake(
        "the last rows of tiles are a whole group",
        swap={"group = min(tiles_m - first_m, GROUP_M)": "group = GROUP_M"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the result is rounded to fp16",
        swap={"c, mask=rows": "c.to(tl.float16), mask=rows"},
        fails="correct",
        says=("the right one rounded to fp16", "close but not close enough"),
    ),
    Mistake(
        "torch lays b out anew",
        swap={"    c = torch.empty(m, n": "    b = b.t().contiguous().t()\n    c = torch.empty(m, n"},
        fails="honest",
        says="torch copied",
    ),
]
