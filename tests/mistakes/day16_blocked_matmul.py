"""Day 16: what a product of two tiles gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALLOCATION = "c = torch.empty(m, n, dtype=a.dtype, device=a.device)"
BLOCK_K = "max(triton.next_power_of_2(a.shape[1]), 16)"
DOT = 'tl.dot(a, b, input_precision="ieee")'
GRID = "(tiles_m * triton.cdiv(n, steps * BLOCK_N),)"
LOAD_A = "a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0.0)"
LOAD_B = "b = tl.load(b_ptrs, mask=inner[:, None] & cols[None, :], other=0.0)"
RETURN = "    return c"

# fmt: off
mistakes = [
    Mistake("fp32 is left to tl.dot, which cuts it to TF32", {DOT: "tl.dot(a, b)"}, "TF32"),
    Mistake("fp32 is rounded to fp16 for the matrix units",
            {DOT: "tl.dot(a.to(tl.float16), b.to(tl.float16))"}, "close but not close enough"),
    Mistake("the sums are kept in fp16", {DOT: "tl.dot(a, b, input_precision='ieee', out_dtype=tl.float16)"},
            "too low a precision"),
    Mistake("the inner block is 16 wide, whatever k is", {BLOCK_K: "16"}, "Right up to"),
    Mistake("the inner block may be narrower than tl.dot takes",
            {BLOCK_K: "max(triton.next_power_of_2(a.shape[1]), 1)"}, "tl.dot needs K >= 16"),
    Mistake("the inner block is no power of two", {BLOCK_K: "max(a.shape[1], 16)"}, "power of 2"),
    Mistake("a is not masked along k", {LOAD_A: "a = tl.load(a_ptrs, mask=rows[:, None], other=0.0)"},
            "and not offs_k[None, :]. A tile's mask needs both sides"),
    Mistake("b is not masked along k", {LOAD_B: "b = tl.load(b_ptrs, mask=cols[None, :], other=0.0)"},
            "both sides"),
    Mistake("a's rows are taken to be k apart", {"offs_m[:, None] * stride_am": "offs_m[:, None] * k"},
            "stride", fails="edges"),
    Mistake("the strides of b arrive in the wrong order", {"*b.stride(),": "*b.T.stride(),"}, "stride"),
    Mistake("only one row of tiles is launched", {GRID: "(triton.cdiv(n, steps * BLOCK_N),)"},
            "never written"),
    Mistake("the result is always fp32", {"dtype=a.dtype, ": ""}, "dtype"),
    Mistake("torch copies strided matrices first",
            {ALLOCATION: f"a, b = a.contiguous(), b.contiguous()\n    {ALLOCATION}"}, "strides",
            fails="honest"),
    Mistake("torch does the work", {RETURN: "    return a @ b"}, "torch", fails="honest"),
    Mistake("the strides of a arrive in the wrong order", {"*a.stride(),": "*a.T.stride(),"},
            "a stride is wrong or multiplies the wrong offset", at="matmul_kernel[grid]("),
    Mistake("k and m arrive in each other's place",
            {"        m,\n        n,\n        a.shape[1],": "        a.shape[1],\n        n,\n        m,"},
            "limit", at="matmul_kernel[grid]("),
    Mistake(
        "the rows of a go by the stride of its columns, and the other way round",
        {
            "offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak": (
                "offs_m[:, None] * stride_ak + offs_k[None, :] * stride_am"
            )
        },
        "a stride is wrong or multiplies the wrong offset",
        at="offs_m[:, None] * stride_ak",
    ),
    Mistake("the inner elements are held against m", {"offs_k < k": "offs_k < m"}, "is right"),
    Mistake("tiles of 256 x 256, in fp32 too", {"(128, 64) if matrix_units else (64, 64)": "(256, 256)"},
            "shared memory", fails="compiles", on_gpu="not done compiling"),
    Mistake("a block pointer to a fills its lanes past the end with NaN",
            {LOAD_A: ("a_block = tl.make_block_ptr(\n" "        a_ptr, (m, k), (stride_am, stride_ak),\n"
             "        ((tl.program_id(0) // strips) * BLOCK_M, 0), (BLOCK_M, BLOCK_K), (1, 0)\n" "    )\n"
             '    a = tl.load(a_block, boundary_check=(0, 1), padding_option="nan")')},
            "the result is nan where"),
]
