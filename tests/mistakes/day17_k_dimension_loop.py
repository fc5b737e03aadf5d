"""Day 17: what a loop over k gets wrong, and what the grader must say about it."""

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

# fmt: off
mistakes = [
    Mistake("a is not masked along k", {LOAD_A: "a = tl.load(a_ptrs, mask=rows[:, None], other=0.0)"},
            "both sides"),
    Mistake("every frame is masked as if it were the first", {"inner = offs_k < left": "inner = offs_k < k"},
            "mask"),
    Mistake("the last, partial frame is left out", {LOOP: "range(k, BLOCK_K - 1, -BLOCK_K)"}, "is right"),
    Mistake("b stands still", {f"        {MOVE_B}\n": ""}, "up to"),
    Mistake("a moves on as if it were contiguous", {MOVE_A: "a_ptrs += BLOCK_K"}, "stride", fails="edges"),
    Mistake("only the last frame counts", {DOT: DOT.replace(", acc,", ",")}, "Right up to"),
    Mistake("the sums of fp16 are kept in fp16",
            {DOT: "part = tl.dot(a, b, input_precision='ieee')\n"
             "        acc = (acc + part).to(tl.float16 if a.dtype == tl.float16 else tl.float32)"},
            "start it on line 37 as what it becomes"),
    Mistake("fp32 is left to tl.dot, which cuts it to TF32", {DOT: "acc = tl.dot(a, b, acc)"}, "TF32"),
    Mistake("only one row of tiles is launched", {GRID: "(triton.cdiv(n, BLOCK_N),)"}, "never written"),
    Mistake("the result is always fp32", {"dtype=a.dtype, ": ""}, "dtype"),
    Mistake("torch copies strided matrices first",
            {ALLOCATION: f"a, b = a.contiguous(), b.contiguous()\n    {ALLOCATION}"}, "strides",
            fails="honest"),
    Mistake("torch does the work", {RETURN: "    return a @ b"}, "torch", fails="honest"),
    Mistake("a column-major matrix is taken as packed",
            {"*a.stride()": "*((1, m) if a.stride(0) == 1 else a.stride())"}, "loads from a gap between",
            fails="edges"),
    Mistake("each product is rounded inside of the loop",
            {DOT: 'acc += tl.dot(a, b, input_precision="ieee").to(a.dtype)'},
            ("round nowhere before the store", "round once, at the store"), fails="correct or edges"),
    Mistake("a block pointer to b checks its columns and not k",
            {"    for left in range": ("    b_block = tl.make_block_ptr(\n"
             "        b_ptr, (k, n), (stride_bk, stride_bn),\n"
             "        (0, (tl.program_id(0) % tiles_n) * BLOCK_N), (BLOCK_K, BLOCK_N), (1, 0)\n" "    )\n"
             "    for left in range"),
             LOAD_B: 'b = tl.load(b_block, boundary_check=(1,), padding_option="zero")',
             MOVE_B: "b_block = tl.advance(b_block, (BLOCK_K, 0))"}, "past the end of"),
    Mistake("the launcher has a name of its own", {"def matmul(a": "def matrix_product(a"},
            "Is matrix_product() meant?", fails="imports"),
    Mistake("tiles are counted by n // BLOCK_N + 1, one more than there are where BLOCK_N divides n",
            {"tiles_n = tl.cdiv(n, BLOCK_N)": "tiles_n = n // BLOCK_N + 1"}, "no store reached them"),
]
