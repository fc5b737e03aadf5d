"""Day 06: what grids of three axes and strides of three dimensions get wrong, and what must be said of it."""

from tools.planted import Mistake

EXPAND = "b = b.expand(B, M, N)"
GRID = "grid = (B, triton.cdiv(N, BLOCK_N), triton.cdiv(M, BLOCK_M))"
MASK = "mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)"
RETURN = "    return out"

# fmt: off
mistakes = [
    Mistake("the two tile axes are swapped in the grid",
            {GRID: "grid = (B, triton.cdiv(M, BLOCK_M), triton.cdiv(N, BLOCK_N))"}, "never written"),
    Mistake("the grid rounds down", {GRID: "grid = (B, N // BLOCK_N, M // BLOCK_M)"}, "ound up"),
    Mistake("rows go unmasked where the columns fill whole blocks",
            {MASK: "mask = ((offs_m[:, None] < M) | (N % BLOCK_N == 0)) & (offs_n[None, :] < N)"},
            "lets every lane through"),
    Mistake("a's batch stride is ignored", {"a_ptr + pid_b * stride_ab + ": "a_ptr + "}, "matrix"),
    Mistake("b is read with a's strides", {"*a.stride(), *b.stride()": "*a.stride(), *a.stride()"}, "stride"),
    Mistake("b is not expanded: [M, N] has two strides", {EXPAND: ""}, "argument"),
    Mistake("columns of a are taken to lie side by side", {"offs_n[None, :] * stride_an": "offs_n[None, :]"},
            "stride", fails="edges"),
    Mistake("out has the layout of a",
            {"torch.empty(B, M, N, dtype=a.dtype, device=a.device)": "torch.empty_like(a)"}, "contiguous",
            fails="edges"),
    Mistake("the mask has rows only", {MASK: "mask = offs_m[:, None] < M"}, "both sides"),
    Mistake("the mask has its sides swapped", {MASK: "mask = (offs_m[:, None] < N) & (offs_n[None, :] < M)"},
            "past the end of"),
    Mistake("the result is always fp32", {"dtype=a.dtype, ": ""}, "dtype"),
    Mistake("torch does the work", {RETURN: "    return torch.add(a, b, out=out)"}, "torch", fails="honest"),
    Mistake("the batch is on the last axis of the grid",
            {GRID: "grid = (triton.cdiv(N, BLOCK_N), triton.cdiv(M, BLOCK_M), B)",
             "pid_b = tl.program_id(0)": "pid_b = tl.program_id(2)",
             "pid_n = tl.program_id(1)": "pid_n = tl.program_id(0)",
             "pid_m = tl.program_id(2)": "pid_m = tl.program_id(1)"}, "65535", fails="correct or edges"),
    Mistake("offsets are counted in 32 bits",
            {"pid_b = tl.program_id(0).to(tl.int64)": "pid_b = tl.program_id(0)",
             "pid_n = tl.program_id(1).to(tl.int64)": "pid_n = tl.program_id(1)",
             "pid_m = tl.program_id(2).to(tl.int64)": "pid_m = tl.program_id(2)"}, "int32", fails="edges"),
    Mistake("b[N] is a column where the matrices are square",
            {EXPAND: "b = (b[:, None] if b.dim() == 1 and M == N else b).expand(B, M, N)"},
            "taken for a column where M = N"),
    Mistake("b[M, N] is a row for each matrix where there are M of them",
            {EXPAND: "b = (b[:, None] if b.dim() == 2 and len(b) == B else b).expand(B, M, N)"},
            "taken for [B, 1, N] where M = B"),
    Mistake("what Inf and -Inf make is set to 0",
            {"tl.store(out_ptrs, a + b, mask": ("s = a + b\n"
             "    s = tl.where((s != s) & (a == a) & (b == b), 0.0, s)\n" "    tl.store(out_ptrs, s, mask")},
            "Inf - Inf is NaN", fails="limit"),
]
