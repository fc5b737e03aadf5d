"""Mutants of the routing that live, and why."""

from tools.planted import Equivalent

NOBODY = "what is read of an expert that is not there is looked up by nobody"
BITS = "shifted by 32 bits, a bit is 32 bits wide"

AS_THEY_ARE = "logits of 16 bits are compared as they are, and the chosen ones go into a tile of fp32"

equivalents = [
    Equivalent("solution:choose_kernel", "x = x.to(tl.float32)", "x = x", AS_THEY_ARE),
    Equivalent("solution:choose_kernel", "x = x.to(tl.float32)", "pass", AS_THEY_ARE),
    Equivalent(
        "solution:place_kernel",
        "rank = tl.load(rank_ptr + entries, mask=mask, other=0)",
        "rank = tl.load(rank_ptr + entries, mask=mask, other=-float('inf'))",
        "a lane without an entry stores nothing, wherever its place is",
    ),
    Equivalent(
        "solution:choose_kernel",
        'taken = (inside & (x == -float("inf"))).to(tl.int32)',
        "taken = inside & (x == -float('inf'))",
        BITS,
    ),
    Equivalent(
        "solution:place_kernel",
        "counts = tl.load(counts_ptr + offs_e, mask=offs_e < e, other=0)",
        "counts = tl.load(counts_ptr + offs_e, mask=offs_e < e, other=-float('inf'))",
        NOBODY,
    ),
    Equivalent(
        "solution:place_kernel",
        "before = tl.load(before_ptr + tl.program_id(0).to(tl.int64) * e + offs_e, mask=offs_e < e, other=0)",
        "before = tl.load(before_ptr + tl.program_id(0).to(tl.int64) * e + offs_e, mask=offs_e < e, "
        "other=-float('inf'))",
        NOBODY,
    ),
]
