"""Mutants of day 14 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:softmax_kernel",
        "for row in range(tl.program_id(0).to(tl.int64), n_rows, tl.num_programs(0)):",
        "for row in range(tl.program_id(0).to(tl.int64), n_rows, tl.num_programs(1)):",
        "slower alone: every program makes all rows that follow its first",
    ),
    Equivalent(
        "solution:softmax_kernel",
        'x = tl.load(x_row_ptr + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)',
        "x = tl.load(x_row_ptr + cols, mask=cols < n_cols, other=-float('inf'))",
        "fp32 on the other side promotes it: m_new and m are",
    ),
    Equivalent(
        "solution:softmax_kernel",
        'x = tl.load(x_row_ptr + cols, mask=cols < n_cols, eviction_policy="evict_first").to(tl.float32)',
        "x = tl.load(x_row_ptr + cols, mask=cols < n_cols, eviction_policy='evict_first')",
        "fp32 on the other side promotes it: m_new and m are",
    ),
    Equivalent(
        "split_rows:write_piece",
        "tl.store(y_ptr + row * N + cols, (tl.exp(x - top) / total).to(y_ptr.dtype.element_ty), "
        "mask=cols < N)",
        "tl.store(y_ptr + row * N + cols, tl.exp(x - top) / total, mask=cols < N)",
        "a store casts to what its pointer points at",
    ),
]
