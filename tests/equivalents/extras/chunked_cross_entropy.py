"""Mutants of chunked cross-entropy that live, and why."""

from tools.planted import Equivalent

X = 'x = tl.load(logits_ptr + row * stride_m + cols, mask=cols < end, other=-float("inf")).to(tl.float32)'

equivalents = [
    Equivalent(
        "solution:chunk_kernel",
        X,
        "x = tl.load(logits_ptr + row * stride_m + cols, mask=cols < end, other=-float('inf'))",
        "fp32 on the other side promotes it: m_i and m_new are",
    ),
    Equivalent(
        "solution:merge_kernel",
        "m_c = tl.load(max_ptr + row * n_chunks + index, mask=index < n_chunks, other=-HIGHEST)",
        "m_c = tl.load(max_ptr + row * n_chunks + index, mask=index < n_chunks, other=-float('inf'))",
        "m_i starts at -HIGHEST, so m_new is finite, and exp2(-inf - m_new) * 0 is 0 as well",
    ),
    Equivalent(
        "solution:merge_kernel",
        "x_target = tl.load(logits_ptr + row * stride_m + tl.load(target_ptr + row)).to(tl.float32)",
        "x_target = tl.load(logits_ptr + row * stride_m + tl.load(target_ptr + row))",
        "fp32 on the other side promotes it: m is",
    ),
]
