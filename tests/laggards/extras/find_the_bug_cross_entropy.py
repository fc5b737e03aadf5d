"""Extra find_the_bug_cross_entropy: right losses that read the logits again, or in small bites."""

from tools.planted import Laggard

laggards = [
    # The second bug, mended by finding the maximum first, and the first by looking for the target alone.
    Laggard(
        "a pass for the maximum, the sum and the target each",
        swap={
            """\
    l_i = 0.0
    x_t = 0.0
    # The only read of x, BLOCK_N columns a turn: their maximum, their sum, and the target's logit on the way.
""": """\
""",
            """\
        m_new = tl.maximum(m_i, tl.max(x, axis=0))
        l_i = l_i * tl.exp(m_i - m_new) + tl.sum(tl.exp(x - m_new), axis=0)
        x_t += tl.sum(tl.where(cols == target, x, 0.0), axis=0)
        m_i = m_new
""": """\
        m_i = tl.maximum(m_i, tl.max(x, axis=0))
    l_i = 0.0
    for start in range(0, n_cols, BLOCK_N):
        cols = start + offs_n
        x = tl.load(x_row_ptr + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        l_i += tl.sum(tl.exp(x - m_i), axis=0)
    x_t = 0.0
    for start in range(0, n_cols, BLOCK_N):
        cols = start + offs_n
        x = tl.load(x_row_ptr + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        x_t += tl.sum(tl.where(cols == target, x, 0.0), axis=0)
""",
            """\


if __name__ == "__main__":
…
    print("Four rows of 4096, one of them ignored: the loss is what torch gives.")
""": """\
""",
        },
    ),
    # 64 bytes a turn, and a reduction after each: 4008 turns where 32 would do.
    Laggard("32 columns a turn", swap={"BLOCK_N=4096, num_warps=8": "BLOCK_N=32, num_warps=1"}),
]
