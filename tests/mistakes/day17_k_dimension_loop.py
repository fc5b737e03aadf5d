"""Day 17: what a loop over k gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ALLOCATION = "c = torch.empty(m, n, dtype=a.dtype, device=a.device)"
DOT = 'acc = tl.dot(a, b, acc, input_precision="ieee")'
GRID = "(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)"
LOAD_A = "a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0.0)"
LOAD_B = "b = tl.load(b_ptrs, mask=inner[:, None] & cols[None, :], other=0.0)"
LOOP = "range(k, 0, -BLOCK_K)"
MOVE_A = "a_ptrs += step * stride_ak"
MOVE_B = "b_ptrs += step * stride_bk"
RETURN = "    return c"

mistakes = [
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
        "every frame is masked as if it were the first",
        swap={"inner = offs_k < left": "inner = offs_k < k"},
        fails="correct",
        says="mask",
    ),
    Mistake(
        "the last, partial frame is left out",
        swap={LOOP: "range(k, BLOCK_K - 1, -BLOCK_K)"},
        fails="correct",
        says="is right",
    ),
    Mistake("b stands still", swap={f"        {MOVE_B}\n": ""}, fails="correct", says="up to"),
    Mistake(
        "b moves on along its columns",
        swap={MOVE_B: "b_ptrs += BLOCK_K * stride_bn"},
        fails="correct",
        says="up to",
    ),
    Mistake(
        "a moves on as if it were contiguous",
        swap={MOVE_A: "a_ptrs += BLOCK_K"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "only the last frame counts",
        swap={DOT: DOT.replace(", acc,", ",")},
        fails="correct",
        says="Right up to",
    ),
    Mistake(
        "the sum so far is added twice, by tl.dot and by +=",
        swap={DOT: DOT.replace("acc =", "acc +=")},
        fails="correct",
        says="Right up to",
    ),
    Mistake(
        "the sums of fp16 are kept in fp16",
        swap={
            DOT: "part = tl.dot(a, b, input_precision='ieee')\n"
            "        acc = (acc + part).to(tl.float16 if a.dtype == tl.float16 else tl.float32)"
        },
        fails="correct",
        says="start it on line 37 as what it becomes",
    ),
    Mistake(
        "fp32 is left to tl.dot, which cuts it to TF32",
        swap={DOT: "acc = tl.dot(a, b, acc)"},
        fails="correct",
        says="TF32",
    ),
    Mistake(
        "rows past the end are read",
        swap={LOAD_A: LOAD_A.replace("rows[:, None] & ", "")},
        fails="correct",
        says="both sides",
    ),
    Mistake(
        "a's rows are taken to be k apart",
        swap={"offs_m[:, None] * stride_am": "offs_m[:, None] * k"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "b's columns are taken to lie side by side",
        swap={"offs_n[None, :] * stride_bn": "offs_n[None, :]"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "only one row of tiles is launched",
        swap={GRID: "(triton.cdiv(n, BLOCK_N),)"},
        fails="correct",
        says="never written",
    ),
    Mistake("the result is always fp32", swap={"dtype=a.dtype, ": ""}, fails="correct", says="dtype"),
    Mistake(
        "torch copies strided matrices first",
        swap={ALLOCATION: f"a, b = a.contiguous(), b.contiguous()\n    {ALLOCATION}"},
        fails="honest",
        says="strides",
    ),
    Mistake("torch does the work", swap={RETURN: "    return a @ b"}, fails="honest", says="torch"),
    Mistake(
        "a column-major matrix is taken as packed",
        swap={"*a.stride()": "*((1, m) if a.stride(0) == 1 else a.stride())"},
        fails="edges",
        says="loads from a gap between",
    ),
    Mistake(
        "each product is rounded inside of the loop",
        swap={DOT: 'acc += tl.dot(a, b, input_precision="ieee").to(a.dtype)'},
        fails="correct or edges",
        says=("round nowhere before the store", "round once, at the store"),
    ),
    Mistake(
        "a block pointer to b checks its columns and not k",
        swap={
            "    for left in range": (
                "    b_block = tl.make_block_ptr(\n"
                "        b_ptr, (k, n), (stride_bk, stride_bn),\n"
                "        (0, (tl.program_id(0) % tiles_n) * BLOCK_N), (BLOCK_K, BLOCK_N), (1, 0)\n"
                "    )\n"
                "    for left in range"
            ),
            LOAD_B: 'b = tl.load(b_block, boundary_check=(1,), padding_option="zero")',
            MOVE_B: "b_block = tl.advance(b_block, (BLOCK_K, 0))",
        },
        fails="correct",
        says="past the end of",
    ),
    Mistake(
        "the launcher has a name of its own",
        swap={"def matmul(a": "def matrix_product(a"},
        fails="imports",
        says="Is matrix_product() meant?",
    ),
    Mistake(
        "inner elements are taken to lie side by side where a has one row",
        swap={"*a.stride(),": "a.stride(0), a.stride(1) if m > 1 else 1,"},
        fails="edges",
        says="loads from a gap between",
    ),
    Mistake(
        "rows of a whose distance suits a descriptor are taken for packed",
        swap={"*a.stride(),": "a.stride(0) - (8 if a.stride(0) == a.shape[1] + 8 else 0), a.stride(1),"},
        fails="edges",
        says="loads from a gap between",
    ),
    Mistake(
        "tiles are counted by n // BLOCK_N + 1, one more than there are where BLOCK_N divides n",
        swap={"tiles_n = tl.cdiv(n, BLOCK_N)": "tiles_n = n // BLOCK_N + 1"},
        fails="correct",
        says="no store reached them",
    ),
]
