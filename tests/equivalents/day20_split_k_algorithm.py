"""Mutants of day 20 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:matmul_split_k",
        "SPLIT_K = choose_split_k(tiles_m * tiles_n, triton.cdiv(k, BLOCK_K))",
        "SPLIT_K = choose_split_k(tiles_m * tiles_n, k // BLOCK_K)",
        "slower alone: how many parts k has",
    )
]
