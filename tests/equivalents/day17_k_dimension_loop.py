"""Mutants of day 17 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:matmul_kernel",
        "a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :].to(tl.int64) * stride_ak",
        "a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak",
        "rows of 2³¹ / 64 elements are not tried: axis 1 of a grid takes no such tiles",
    ),
    Equivalent(
        "solution:matmul_kernel",
        "b_ptrs = b_ptr + offs_k[:, None].to(tl.int64) * stride_bk + offs_n[None, :] * stride_bn",
        "b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn",
        "rows of 2³¹ / 64 elements are not tried: axis 1 of a grid takes no such tiles",
    ),
]
