"""Extra: right gradients whose warps wait: for every addition to dq, or for one another."""

from __future__ import annotations

from tools.planted import Laggard

PLACE = "        dq_ptrs = dq32_ptr + (first + turn * BLOCK_M) * D"
UNSEEN = "its values need a GPU, and so does its time"

laggards = [
    # Each of 16 additions a thread and a turn waits until all of its writes before can be seen.
    Laggard(
        "additions to dq acquire and release, as they do unless told otherwise",
        swap={'gl.atomic_add(dq_ptrs, dq, sem="relaxed")': "gl.atomic_add(dq_ptrs, dq)"},
        unseen=UNSEEN,
    ),
    # Neighbouring lanes add to neighbouring rows, so each addition of 4 bytes is one of its own to L2. And no
    # load is under way while products are.
    Laggard(
        "one stage, one slot, and additions down the columns of dq",
        swap={
            "STAGES, SLOTS = 3, 3": "STAGES, SLOTS = 1, 1",
            PLACE: (
                "        DOWN: gl.constexpr = gl.BlockedLayout([1, 1], [32, 1], [2, 2], [0, 1])\n"
                "        dq = gl.convert_layout(dq, DOWN)\n"
                "        offs_m = gl.arange(0, BLOCK_M, layout=gl.SliceLayout(1, DOWN))\n"
                "        offs_d = gl.arange(0, D, layout=gl.SliceLayout(0, DOWN))\n" + PLACE
            ),
            "    offs_m = gl.arange(0, BLOCK_M, layout=gl.SliceLayout(1, OUT))\n": "",
            "    offs_d = gl.arange(0, D, layout=gl.SliceLayout(0, OUT))\n": "",
        },
        unseen=UNSEEN,
    ),
]
