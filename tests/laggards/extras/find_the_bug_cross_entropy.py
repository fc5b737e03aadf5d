"""Extra find_the_bug_cross_entropy: right losses that read the logits again, or in small bites."""

from __future__ import annotations

from tools.planted import Laggard

laggards = [
    # The second bug, mended by finding the maximum first, and the first by looking for the target alone.
    Laggard("a pass for the maximum, the sum and the target each", file="three_passes.py"),
    # 64 bytes a turn, and a reduction after each: 4008 turns where 32 would do.
    Laggard("32 columns a turn", swap={"BLOCK_N=4096, num_warps=8": "BLOCK_N=32, num_warps=1"}),
]
