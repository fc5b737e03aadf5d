"""Extra: what a scaled int8 product gets wrong, and what the grader must say about it."""

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

# fmt: off
mistakes = [
    Mistake("the accumulator is fp32", {ACC: ACC.replace("int32", "float32"), DOT: "acc = tl.dot(a, b, acc)"},
            "acc is a block of 16 × 16 fp32 before the loop", on_gpu="start it as what it becomes"),
    Mistake("out_dtype does not say int32", {DOT: "acc = tl.dot(a, b, acc, out_dtype=tl.float32)"},
            "out_dtype"),
    Mistake("sums in fp32, of steps in int32",
            {ACC: ACC.replace("int32", "float32"), DOT: "acc += tl.dot(a, b).to(tl.float32)",
             TAKEN: TAKEN.replace("zero[:", "zero.to(tl.float32)[:")}, "past 2²⁴"),
    Mistake("products of fp16, summed in fp16",
            {DOT: "acc += tl.dot(a.to(tl.float16), b.to(tl.float16), out_dtype=tl.float16).to(tl.int32)"},
            "close but not close enough"),
    Mistake("the zero points are left out", {TAKEN: "acc -= 0"}, "left out"),
    Mistake("the zero points are added", {TAKEN: TAKEN.replace("-=", "+=")}, "have to be taken out"),
    Mistake("a zero point is taken out once", {TAKEN: "acc -= zero[:, None]"}, "taken out once"),
    Mistake("a zero point goes times k", {TAKEN: "acc -= zero[:, None] * k"}, "number of elements"),
    Mistake("a zero point goes times the row's sum",
            {"b_sum = tl.zeros((BLOCK_N,)": "b_sum = tl.zeros((BLOCK_M,)",
             SUM: "b_sum += tl.sum(a.to(tl.int32), axis=1)", TAKEN: "acc -= (zero * b_sum)[:, None]"},
            "sum of a's row"),
    Mistake("the zero point is taken out in int8",
            {LOOP: ZERO + LOOP, A: f"{A}\n        {IN_8_BITS}", LOADED: "", TAKEN: "acc -= 0"},
            "wraps in int8"),
    Mistake("the columns' sums wrap in 8 bits",
            {SUM: "b_sum += tl.sum(b, axis=0, dtype=tl.int8).to(tl.int32)"}, "wrap in 8 bits"),
    Mistake("the columns' sums are those of the last step", {SUM: SUM.replace("+=", "=")}, "along k alone"),
    Mistake("the scales are swapped",
            {"tl.load(a_scale_ptr + offs_m, mask=rows": "tl.load(b_scale_ptr + offs_m, mask=offs_m < n",
             "tl.load(b_scale_ptr + offs_n, mask=cols": "tl.load(a_scale_ptr + offs_n, mask=offs_n < m"},
            "swapped"),
    Mistake("a_scale is left out", {C: C.replace(" * a_scale[:, None]", "")}, "a_scale is left out"),
    Mistake("b_scale is left out", {C: C.replace(" * b_scale[None, :]", "")}, "b_scale is left out"),
    Mistake("the columns' sums read b as uint8",
            {SUM: SUM.replace("b.to(", "b.to(tl.uint8, bitcast=True).to(")}, "unsigned"),
    Mistake("bytes are turned into uint8 for the product",
            {DOT: DOT.replace("(a, b,", "(a.to(tl.uint8), b.to(tl.uint8),")}, "only int8 supported"),
    Mistake("-128 is cut to -127", {A: A + "\n        a = tl.maximum(a, -127).to(tl.int8)"}, "-127"),
    Mistake("the last, partial block of k is left out",
            {"range(k, 0, -BLOCK_K)": "range(k, BLOCK_K - 1, -BLOCK_K)"}, "partial one is left out"),
    Mistake("lanes past k are not masked",
            {A: A.replace(" & inner[None, :]", " & (offs_k >= 0)[None, :]"),
             B: B.replace("inner[:, None] & ", "(offs_k >= 0)[:, None] & ")}, "past the end"),
    Mistake("blocks of k are 16 wide", {"BLOCK_K=128": "BLOCK_K=16"}, "tl.dot needs K >= 32",
            on_gpu="K >= 32"),
    Mistake("rows of a are taken to be k apart", {"offs_m[:, None] * stride_am": "offs_m[:, None] * k"},
            "stride"),
    Mistake("the last rows of tiles are a whole group",
            {"group = min(tiles_m - first_m, GROUP_M)": "group = GROUP_M"}, "never written"),
    Mistake("the result is rounded to fp16", {"c, mask=rows": "c.to(tl.float16), mask=rows"},
            ("the right one rounded to fp16", "close but not close enough")),
]
