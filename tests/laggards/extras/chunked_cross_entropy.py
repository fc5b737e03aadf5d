"""Extra: right answers whose programs read too much, or wait for too little at a time."""

from tools.planted import Laggard

laggards = [
    # 16 programs a row, each of which reads all of it: 16 times the bytes.
    Laggard(
        "every chunk's program reads the whole row",
        swap={
            """\
    # The only read of the logits: a chunk of them from HBM, whatever the row is long.
    for start in range(first, end, BLOCK_N):
        cols = start + offs_n
        x = tl.load(logits_ptr + row * stride_m + cols, mask=cols < end, other=-float("inf")).to(tl.float32)
""": """\
    # n_cols elements for every chunk.
    for start in range(0, n_cols, BLOCK_N):
        cols = start + offs_n
        x = tl.load(logits_ptr + row * stride_m + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
        x = tl.where((cols >= first) & (cols < end), x, -float("inf"))
""",
            "    BLOCK_N = min(max(chunk, 4), 8192)\n": "    BLOCK_N = 8192\n",
        },
    ),
    # 64 bytes under way at a time in each of 4224 programs: far less than it takes to hide the wait.
    Laggard("a warp a chunk, 32 columns a turn", swap={"min(max(chunk, 4), 8192)": "min(max(chunk, 4), 32)"}),
]
