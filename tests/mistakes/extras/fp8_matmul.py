"""Extra: what a scaled FP8 product gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

DOT = "return tl.dot(a, b, acc, max_num_imprecise_acc=a.shape[1])"
A = "a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0.0)"
C = "c = acc * a_scale[:, None] * b_scale[None, :]"

# fmt: off
mistakes = [
    Mistake("sums are never promoted", {DOT: "return tl.dot(a, b, acc)"},
            "14 bits only, where a block has 64 rows or more"),
    Mistake("sums in fp16", {DOT: "return acc + tl.dot(a, b, out_dtype=tl.float16)"}, "Large values overflow",
            fails="edges"),
    Mistake("more products than a block has may share a sum",
            {DOT: DOT.replace("=a.shape[1]", "=2 * a.shape[1]")}, "max_num_imprecise_acc"),
    Mistake("the scales are swapped",
            {"tl.load(a_scale_ptr + offs_m, mask=rows": "tl.load(b_scale_ptr + offs_m, mask=offs_m < n",
             "left_acc, a_scale, b_scale_ptr + offs_n,": "left_acc, a_scale, a_scale_ptr + offs_n % m,",
             "b_scale_ptr + offs_n + HALF_N,": "a_scale_ptr + (offs_n + HALF_N) % m,"}, "swapped"),
    Mistake("a_scale is left out", {C: C.replace(" * a_scale[:, None]", "")}, "a_scale is left out"),
    Mistake("b_scale is left out", {C: C.replace(" * b_scale[None, :]", "")}, "b_scale is left out"),
    Mistake("it is divided by the scales", {C: C.replace("*", "/")}, "divided by the scales"),
    Mistake(
        "the codes are scaled before the product",
        {A: A + " * 0.5"},
        ("no arithmetic in fp8e4nv", "which cannot do what stands on this line"),  # of Triton 3.6
    ),
    Mistake("b is read as [k, n]",
            {"b_ptr + offs_n[None, :] * k + offs_k[:, None]": "b_ptr + offs_n[None, :] + offs_k[:, None] * n",
             "HALF_N)[None, :] * k + offs_k[:, None]": "HALF_N)[None, :] + offs_k[:, None] * n",
             "left_ptrs += BLOCK_K": "left_ptrs += BLOCK_K * n",
             "right_ptrs += BLOCK_K": "right_ptrs += BLOCK_K * n"}, "[k, n]"),
    Mistake("the last, partial block of k is left out",
            {"range(k, 0, -BLOCK_K)": "range(k, BLOCK_K - 1, -BLOCK_K)"},
            ("whole blocks of 128 are counted", "as if nothing was added up")),
    Mistake("each block of k replaces the sum", {DOT: "return tl.dot(a, b)"}, "overwrites the sum"),
    Mistake("columns past n are stored",
            {"c, mask=rows[:, None] & cols[None, :])": "c, mask=rows[:, None] & (cols | True)[None, :])"},
            "past the end"),
    Mistake("the result is fp32", {"dtype=torch.bfloat16": "dtype=torch.float32"},
            "fp32 where bf16 is asked for"),
    Mistake("blocks of k are 16 wide", {"BLOCK_K=128": "BLOCK_K=16"}, "tl.dot needs K >= 32",
            on_gpu="K >= 32"),
    Mistake("the last rows of tiles are a whole group",
            {"group = min(tiles_m - first_m, GROUP_M)": "group = GROUP_M"}, "never written"),
    Mistake("torch converts the operands",
            {"    c = torch.empty(m, n": "    a, b = a.bfloat16(), b.bfloat16()\n    c = torch.empty(m, n",
             DOT: "return tl.dot(a, b, acc)"}, "torch converted", fails="honest"),
]
