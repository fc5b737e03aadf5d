"""Mutants of day 31 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:lse_kernel",
        "offs_n = tl.arange(0, BLOCK_N).to(tl.int64)",
        "offs_n = tl.arange(0, BLOCK_N)",
        "one block of rows: pointers move on from there in 64 bits; day 27 promises 16384 keys at most",
    ),
    Equivalent(
        "solution:lse_kernel",
        "offs_d = tl.arange(0, BLOCK_D).to(tl.int64)",
        "offs_d = tl.arange(0, BLOCK_D)",
        "D <= 128 columns: a head of 2³¹ elements between two of them is not promised",
    ),
    Equivalent(
        "solution:lse_kernel",
        "if CAUSAL:",
        "if False:",
        "slower alone: the keys or queries it takes in addition are masked, and add nothing",
    ),
    Equivalent(
        "solution:lse_kernel",
        "end = tl.minimum(Sk, (pid_m + 1) * BLOCK_M + Sk - Sq)",
        "end = tl.maximum(Sk, (pid_m + 1) * BLOCK_M + Sk - Sq)",
        "slower alone: the keys or queries it takes in addition are masked, and add nothing",
    ),
    Equivalent(
        "solution:lse_kernel",
        "end = tl.minimum(Sk, (pid_m + 1) * BLOCK_M + Sk - Sq)",
        "end = Sk",
        "slower alone: the keys or queries it takes in addition are masked, and add nothing",
    ),
    Equivalent(
        "solution:lse_kernel",
        "end = tl.minimum(Sk, (pid_m + 1) * BLOCK_M + Sk - Sq)",
        "end = (pid_m + 1) * BLOCK_M + Sk - Sq",
        "slower alone: the keys or queries it takes in addition are masked, and add nothing",
    ),
    Equivalent(
        "solution:lse_kernel",
        "end = tl.minimum(Sk, (pid_m + 1) * BLOCK_M + Sk - Sq)",
        "end = tl.minimum(Sk, (pid_m + 1) * BLOCK_M + Sk)",
        "slower alone: the keys or queries it takes in addition are masked, and add nothing",
    ),
    Equivalent(
        "solution:lse_kernel",
        "end = tl.minimum(Sk, (pid_m + 1) * BLOCK_M + Sk - Sq)",
        "end = tl.minimum(Sk, (pid_m + 1) * BLOCK_M + Sk + Sq)",
        "slower alone: the keys or queries it takes in addition are masked, and add nothing",
    ),
    Equivalent(
        "solution:lse_kernel",
        "end = tl.minimum(Sk, (pid_m + 1) * BLOCK_M + Sk - Sq)",
        "end = tl.minimum(Sk, (pid_m + 2) * BLOCK_M + Sk - Sq)",
        "slower alone: the keys or queries it takes in addition are masked, and add nothing",
    ),
    Equivalent(
        "solution:lse_kernel",
        'shift = tl.where(m_new == -float("inf"), 0.0, m_new)',
        'shift = tl.where(m_new == -float("inf"), 1.0, m_new)',
        "where the maximum is -inf every exponential is 0, for any finite shift",
    ),
]
