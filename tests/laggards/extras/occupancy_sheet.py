"""Extra: right answers of too few bytes at a time, or of lanes that lie far apart."""

from tools.planted import Laggard

laggards = [
    # 32 programs of a warp on an SM, each with 128 bytes on their way: 4 KB an SM, where about 30 are wanted.
    Laggard("blocks of 32", swap={'{"BLOCK": 2048, "num_warps": 4}': '{"BLOCK": 32, "num_warps": 1}'}),
    # Neighbouring lanes lie 64 bytes apart or more: a sector of 32 bytes for each 4 of them.
    Laggard(
        "a contiguous stretch for each lane",
        swap={
            "first = tl.program_id(0).to(tl.int64) * BLOCK": (
                "first = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)"
            ),
            "stride = tl.num_programs(0).to(tl.int64) * BLOCK": (
                "stretch = tl.cdiv(n, tl.num_programs(0).to(tl.int64) * BLOCK)"
            ),
            "for start in range(first, n, stride):": "for turn in range(stretch):",
            "offs = start + tl.arange(0, BLOCK)": "offs = first * stretch + turn",
        },
    ),
]
