"""Extra: right answers whose squares go through memory, or that start a program for a row of 16."""

from tools.planted import Laggard

BEFORE = "@triton.jit\ndef normalize_kernel("
LAUNCH = "        normalize_kernel[(triton.cdiv(n_rows, BLOCK_M),)](\n            x,"
SQUARES = '''@triton.jit
def squares_kernel(x_ptr, out_ptr, n_rows, n_cols, stride_xm, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Reads 2 bytes an element of bf16, writes 4."""
    offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    mask = (offs_m < n_rows)[:, None] & (offs_n < n_cols)[None, :]
    x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :], mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + offs_m[:, None] * n_cols + offs_n[None, :], x * x, mask=mask)


'''

laggards = [
    # The squares cost 6 bytes an element of bf16, their sum 4, and the quotient 4: 14 where 4 would do.
    Laggard(
        "the squares are stored, then added, then the rows are divided",
        swap={
            BEFORE: SQUARES + BEFORE,
            LAUNCH: (
                "        squares = torch.empty(n_rows, n_cols, dtype=torch.float32, device=x.device)\n"
                "        squares_kernel[(triton.cdiv(n_rows, BLOCK_M),)](\n"
                "            x, squares, n_rows, n_cols, x.stride(0), BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N,\n"
                "            num_warps=num_warps,\n        )\n"
                f"{LAUNCH}\n            squares,"
            ),
            "    x_ptr, y_ptr, norm_ptr,": "    x_ptr, square_ptr, y_ptr, norm_ptr,",
            "norm = tl.sqrt(tl.sum(x * x, axis=1))": (
                "at = offs_m[:, None] * n_cols + offs_n[None, :]\n"
                "    squares = tl.load(square_ptr + at, mask=mask, other=0.0)\n"
                "    norm = tl.sqrt(tl.sum(squares, axis=1))"
            ),
        },
    ),
    # 4194304 programs of 16 elements: of 256 threads 240 have nothing to do.
    Laggard(
        "a program for each row, also of 16 elements",
        swap={"BLOCK_M = max(4096 // BLOCK_N, 1)": "BLOCK_M = 1"},
    ),
]
