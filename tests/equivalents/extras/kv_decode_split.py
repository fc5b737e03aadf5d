"""Mutants of split attention for decoding that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:split_kernel",
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
]
