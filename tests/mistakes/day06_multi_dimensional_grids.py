"""Day 06: what grids of three axes and strides of three dimensions get wrong, and what must be said of it."""

from __future__ import annotations

from tools.planted import Mistake

A_STRIDES = "offs_m[:, None] * stride_am + offs_n[None, :] * stride_an"
EXPAND = "b = b.expand(B, M, N)"
GRID = "grid = (B, triton.cdiv(N, BLOCK_N), triton.cdiv(M, BLOCK_M))"
MASK = "mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)"
OUT = "out_ptr + (pid_b * M + offs_m[:, None]) * N + offs_n[None, :]"
RETURN = "    return out"

mistakes = [
    Mistake(
        "the two tile axes are swapped in the grid",
        swap={GRID: "grid = (B, triton.cdiv(M, BLOCK_M), triton.cdiv(N, BLOCK_N))"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the batch is not in the grid",
        swap={GRID: GRID.replace("(B,", "(1,")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the grid rounds down",
        swap={GRID: "grid = (B, N // BLOCK_N, M // BLOCK_M)"},
        fails="correct",
        says="ound up",
    ),
    Mistake(
        "rows go unmasked where the columns fill whole blocks",
        swap={MASK: "mask = ((offs_m[:, None] < M) | (N % BLOCK_N == 0)) & (offs_n[None, :] < N)"},
        fails="correct",
        says="lets every lane through",
    ),
    Mistake(
        "a's batch stride is ignored",
        swap={"a_ptr + pid_b * stride_ab + ": "a_ptr + "},
        fails="correct",
        says="matrix",
    ),
    Mistake(
        "b's batch stride is ignored",
        swap={"b_ptr + pid_b * stride_bb + ": "b_ptr + "},
        fails="correct",
        says="matrix",
    ),
    Mistake(
        "every matrix is written over the first",
        swap={OUT: OUT.replace("pid_b * M + ", "")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "matrices of out are taken to be N apart",
        swap={OUT: "out_ptr + pid_b * N + offs_m[:, None] * N + offs_n[None, :]"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "b is read with a's strides",
        swap={"*a.stride(), *b.stride()": "*a.stride(), *a.stride()"},
        fails="correct",
        says="stride",
    ),
    Mistake("b is not expanded: [M, N] has two strides", swap={EXPAND: ""}, fails="correct", says="argument"),
    Mistake(
        "a's row and column strides are swapped",
        swap={A_STRIDES: "offs_m[:, None] * stride_an + offs_n[None, :] * stride_am"},
        fails="correct",
        says="stride",
    ),
    Mistake(
        "columns of a are taken to lie side by side",
        swap={"offs_n[None, :] * stride_an": "offs_n[None, :]"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "rows of a are taken to be N apart",
        swap={"offs_m[:, None] * stride_am": "offs_m[:, None] * N"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "out is written with a's strides",
        swap={OUT: f"out_ptr + pid_b * stride_ab + {A_STRIDES}"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "out has the layout of a",
        swap={"torch.empty(B, M, N, dtype=a.dtype, device=a.device)": "torch.empty_like(a)"},
        fails="edges",
        says="contiguous",
    ),
    Mistake(
        "the mask has rows only",
        swap={MASK: "mask = offs_m[:, None] < M"},
        fails="correct",
        says="both sides",
    ),
    Mistake(
        "the mask has its sides swapped",
        swap={MASK: "mask = (offs_m[:, None] < N) & (offs_n[None, :] < M)"},
        fails="correct",
        says="past the end of",
    ),
    Mistake("the result is always fp32", swap={"dtype=a.dtype, ": ""}, fails="correct", says="dtype"),
    Mistake(
        "a is copied first",
        swap={EXPAND: f"a, {EXPAND.replace(' =', ' = a.contiguous(),', 1)}"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "b is copied in full size", swap={EXPAND: f"{EXPAND}.contiguous()"}, fails="honest", says="torch"
    ),
    Mistake(
        "torch does the work",
        swap={RETURN: "    return torch.add(a, b, out=out)"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "the batch is on the last axis of the grid",
        swap={
            GRID: "grid = (triton.cdiv(N, BLOCK_N), triton.cdiv(M, BLOCK_M), B)",
            "pid_b = tl.program_id(0)": "pid_b = tl.program_id(2)",
            "pid_n = tl.program_id(1)": "pid_n = tl.program_id(0)",
            "pid_m = tl.program_id(2)": "pid_m = tl.program_id(1)",
        },
        fails="correct or edges",
        says="65535",
    ),
    Mistake(
        "offsets are counted in 32 bits",
        swap={
            "pid_b = tl.program_id(0).to(tl.int64)": "pid_b = tl.program_id(0)",
            "pid_n = tl.program_id(1).to(tl.int64)": "pid_n = tl.program_id(1)",
            "pid_m = tl.program_id(2).to(tl.int64)": "pid_m = tl.program_id(2)",
        },
        fails="edges",
        says="int32",
    ),
    Mistake(
        "b[N] is a column where the matrices are square",
        swap={EXPAND: "b = (b[:, None] if b.dim() == 1 and M == N else b).expand(B, M, N)"},
        fails="correct",
        says="taken for a column where M = N",
    ),
    Mistake(
        "b[M, N] is a row for each matrix where there are M of them",
        swap={EXPAND: "b = (b[:, None] if b.dim() == 2 and len(b) == B else b).expand(B, M, N)"},
        fails="correct",
        says="taken for [B, 1, N] where M = B",
    ),
    Mistake(
        "what Inf and -Inf make is set to 0",
        swap={
            "tl.store(out_ptrs, a + b, mask": (
                "s = a + b\n"
                "    s = tl.where((s != s) & (a == a) & (b == b), 0.0, s)\n"
                "    tl.store(out_ptrs, s, mask"
            )
        },
        fails="limit",
        says="Inf - Inf is NaN",
    ),
]
