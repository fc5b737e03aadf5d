"""Mutants of split attention for decoding that live, and why."""

from grader.dev.planted import Equivalent

Q = "q = tl.load(q_ptr + tl.program_id(0).to(tl.int64) * D + offs_d, mask=offs_d < D, other=0.0)"

equivalents = [
    Equivalent(
        "solution:attend",
        "s = tl.sum(q[None, :] * k.to(tl.float32), axis=1) * (scale * LOG2_E)",
        "s = tl.sum(q[None, :] * k, axis=1) * (scale * LOG2_E)",
        "fp32 on the other side promotes it: q is",
    ),
    Equivalent(
        "solution:attend",
        "acc = acc * alpha + tl.sum(p[:, None] * v.to(tl.float32), axis=0)",
        "acc = acc * alpha + tl.sum(p[:, None] * v, axis=0)",
        "fp32 on the other side promotes it: p is",
    ),
    Equivalent(
        "solution:split_kernel",
        f"{Q}.to(tl.float32)",
        Q,
        "fp32 on the other side promotes it: attend() casts k",
    ),
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
