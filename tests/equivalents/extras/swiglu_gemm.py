"""Mutants of SwiGLU in a matrix product that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:swiglu_gemm_kernel",
        "pid_m, pid_n = grouped_tile(tl.program_id(0), tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), 8)",
        "pid_m, pid_n = grouped_tile(tl.program_id(0), tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), 9)",
        "the same tiles in another order",
    ),
    Equivalent(
        "solution:swiglu_gemm_kernel",
        "if EVEN_K:",
        "if False:",
        "slower alone: the masks hide nothing where BLOCK_K divides k",
    ),
]
