"""Extra: what a scaled FP8 product gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

DOT = "return tl.dot(a, b, acc, max_num_imprecise_acc=a.shape[1])"
A = "a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0.0)"
B = "add_products(left_acc, a, left_ptrs, inner[:, None] & left[None, :])"
B_2 = "add_products(right_acc, a, right_ptrs, inner[:, None] & right[None, :])"
C = "c = acc * a_scale[:, None] * b_scale[None, :]"

mistakes = [
    Mistake(
        "sums are never promoted",
        swap={DOT: "return tl.dot(a, b, acc)"},
        fails="correct",
        says="14 bits only, where a block has 64 rows or more",
    ),
    Mistake(
        "sums in fp16",
        swap={DOT: "return acc + tl.dot(a, b, out_dtype=tl.float16)"},
        fails="edges",
        says="Large values overflow",
    ),
    Mistake(
        "more products than a block has may share a sum",
        swap={DOT: DOT.replace("=a.shape[1]", "=2 * a.shape[1]")},
        fails="correct",
        says="max_num_imprecise_acc",
    ),
    Mistake(
        "the scales are swapped",
        swap={
            "tl.load(a_scale_ptr + offs_m, mask=rows": "tl.load(b_scale_ptr + offs_m, mask=offs_m < n",
            "left_acc, a_scale, b_scale_ptr + offs_n,": "left_acc, a_scale, a_scale_ptr + offs_n % m,",
            "b_scale_ptr + offs_n + HALF_N,": "a_scale_ptr + (offs_n + HALF_N) % m,",
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
        "it is divided by the scales",
        swap={C: C.replace("*", "/")},
        fails="correct",
        says="divided by the scales",
    ),
    Mistake(
        "the codes are scaled before the product",
        swap={A: A + " * 0.5"},
        fails="correct",
        says=("no arithmetic in fp8e4nv", "which cannot do what stands on this line"),  # of Triton 3.6
    ),
    Mistake(
        "b is read as [k, n]",
        swap={
            "b_ptr + offs_n[None, :] * k + offs_k[:, None]": "b_ptr + offs_n[None, :] + offs_k[:, None] * n",
            "HALF_N)[None, :] * k + offs_k[:, None]": "HALF_N)[None, :] + offs_k[:, None] * n",
            "left_ptrs += BLOCK_K": "left_ptrs += BLOCK_K * n",
            "right_ptrs += BLOCK_K": "right_ptrs += BLOCK_K * n",
        },
        fails="correct",
        says="[k, n]",
    ),
    Mistake(
        "the last, partial block of k is left out",
        swap={"range(k, 0, -BLOCK_K)": "range(k, BLOCK_K - 1, -BLOCK_K)"},
        fails="correct",
        says=("whole blocks of 128 are counted", "as if nothing was added up"),
    ),
    Mistake(
        "each block of k replaces the sum",
        swap={DOT: "return tl.dot(a, b)"},
        fails="correct",
        says="overwrites the sum",
    ),
    Mistake(
        "lanes past k are not masked",
        swap={
            A: A.replace(" & inner[None, :]", " & (offs_k >= 0)[None, :]"),
            B: B.replace("inner[:, None] & ", "(offs_k >= 0)[:, None] & "),
            B_2: B_2.replace("inner[:, None] & ", "(offs_k >= 0)[:, None] & "),
        },
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "columns past n are stored",
        swap={"c, mask=rows[:, None] & cols[None, :])": "c, mask=rows[:, None] & (cols | True)[None, :])"},
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "the output goes through fp16",
        swap={"c, mask=rows": "c.to(tl.float16).to(tl.bfloat16), mask=rows"},
        fails="edges",
        says="Large values overflow",
    ),
    Mistake(
        "the result is fp32",
        swap={"dtype=torch.bfloat16": "dtype=torch.float32"},
        fails="correct",
        says="fp32 where bf16 is asked for",
    ),
    Mistake(
        "blocks of k are 16 wide",
        swap={"BLOCK_K=128": "BLOCK_K=16"},
        fails="correct",
        says="tl.dot needs K >= 32",
        on_gpu="K >= 32",
    ),
    Mistake(
        "the last rows of tiles are a whole group",
        swap={"group = min(tiles_m - first_m, GROUP_M)": "group = GROUP_M"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "torch converts the operands",
        swap={
            "    c = torch.empty(m, n": "    a, b = a.bfloat16(), b.bfloat16()\n    c = torch.empty(m, n",
            DOT: "return tl.dot(a, b, acc)",
        },
        fails="honest",
        says="torch converted",
    ),
]
