"""Mutants of day 27 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:scores_kernel",
        "offs_n = pid_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)",
        "offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)",
        "one block of rows: pointers move on from there in 64 bits; day 27 promises 16384 keys at most",
    ),
    Equivalent(
        "solution:scores_kernel",
        "offs_d = tl.arange(0, BLOCK_D).to(tl.int64)",
        "offs_d = tl.arange(0, BLOCK_D)",
        "D <= 128 columns: a head of 2³¹ elements between two of them is not promised",
    ),
    Equivalent(
        "solution:softmax_kernel",
        'numerator = tl.exp(s - tl.where(m_i == -float("inf"), 0.0, m_i)[:, None])',
        'numerator = tl.exp(s - tl.where(m_i == -float("inf"), 1.0, m_i)[:, None])',
        "where m_i is -inf every numerator is exp(-inf), 0 for any finite shift",
    ),
    Equivalent(
        "solution:softmax_kernel",
        "tl.store(p_ptr + offsets, numerator / tl.where(l_i == 0.0, 1.0, l_i)[:, None], mask=mask)",
        "tl.store(p_ptr + offsets, numerator / tl.where(l_i == 0.0, 2.0, l_i)[:, None], mask=mask)",
        "0 divided by any number is 0",
    ),
    Equivalent(
        "solution:weighted_sum_kernel",
        "offs_n = tl.arange(0, BLOCK_N).to(tl.int64)",
        "offs_n = tl.arange(0, BLOCK_N)",
        "one block of rows: pointers move on from there in 64 bits; day 27 promises 16384 keys at most",
    ),
    Equivalent(
        "solution:weighted_sum_kernel",
        "offs_d = tl.arange(0, BLOCK_D).to(tl.int64)",
        "offs_d = tl.arange(0, BLOCK_D)",
        "D <= 128 columns: a head of 2³¹ elements between two of them is not promised",
    ),
]
