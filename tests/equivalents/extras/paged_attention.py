"""Mutants of a decoding step over a cache in pages that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:paged_kernel",
        "share = tl.cdiv(tl.cdiv(length, BLOCK_N), tl.num_programs(1)) * BLOCK_N",
        "share = tl.cdiv(tl.cdiv(length, BLOCK_N), tl.num_programs(2)) * BLOCK_N",
        "slower alone: the first split has all of the keys, and the others are empty",
    ),
    Equivalent(
        "solution:merge_kernel",
        "o = tl.sum(o_s * factor[:, None], axis=0) / tl.where(l_i == 0, 1.0, l_i)",
        "o = tl.sum(o_s * factor[:, None], axis=0) / tl.where(l_i == 0, 2.0, l_i)",
        "0 is 0 over whatever it is divided by",
    ),
    Equivalent(
        "solution:merge_kernel",
        "m_s = tl.load(m_ptr + query * n_splits + offs_s, mask=offs_s < n_splits, other=LOWEST)",
        "m_s = tl.load(m_ptr + query * n_splits + offs_s, mask=offs_s < n_splits, other=-float('inf'))",
        "the largest maximum is that of a split that is there, and finite: a lane without one weighs 0",
    ),
    Equivalent(
        "solution:paged_kernel",
        "pages = tl.load(tables_ptr + offs_n // PAGE, mask=seen, other=0)",
        "pages = tl.load(tables_ptr + offs_n // PAGE, mask=seen, other=-float('inf'))",
        "where no key is seen nothing is loaded, whatever page it would be in",
    ),
]
