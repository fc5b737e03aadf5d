"""Extra: what a transpose in Gluon gets wrong, and what is said about it."""

from tools.planted import Mistake

AGAIN = "    rows, cols = offsets(pid_m, BLOCK, 0, WRITE), offsets(pid_n, BLOCK, 1, WRITE)\n"
CONVERT = "    x = gl.convert_layout(x, WRITE)\n"
STORE = "gl.store(y_ptr + cols.to(gl.int64)[None, :] * m + rows[:, None], x, mask=inside)"
WARPS = "WRITE = gl.BlockedLayout(size_per_thread=[8, 1], threads_per_warp=[8, 4], warps_per_cta=[1, 4]"

# fmt: off
mistakes = [
    Mistake("no layout is converted", {CONVERT: ""}, "ayout", fails="compiles"),
    Mistake("WRITE is for eight warps, and four are launched", {WARPS: WARPS.replace("[1, 4]", "[1, 8]")},
            "Triton cannot compile", fails="compiles"),
    Mistake("y's rows are taken to be n apart", {STORE: STORE.replace("* m +", "* n +")},
            ("is right", "over whatever lies there"), gpu=True),
    Mistake(
        "the tile is copied, and not turned",
        {
            STORE: STORE.replace(
                "cols.to(gl.int64)[None, :] * m + rows[:, None]",
                "rows.to(gl.int64)[:, None] * n + cols[None, :]",
            )
        },
        "copied, and not turned",
        gpu=True,
    ),
    Mistake("every program stores the first row of tiles",
            {AGAIN: AGAIN.replace("offsets(pid_m, BLOCK, 0, WRITE)", "offsets(0, BLOCK, 0, WRITE)")},
            "never written", gpu=True),
    Mistake("x's rows are taken to be n apart", {"[:, None] * stride_xm": "[:, None] * n"}, "stride",
            fails="edges", gpu=True),
]
