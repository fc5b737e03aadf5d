"""Extra find_the_bug_cross_entropy: its bugs, and what goes wrong while they are mended."""

from tools.planted import Mistake

COUNT = "count += (target != ignore_index).to(tl.float32)"
LOSS = "tl.log(l_i) + (m_i - x_t)"
RESCALED = "l_i = l_i * tl.exp(m_i - m_new) +"
STORED = "tl.where(target == ignore_index, 0.0, loss)"
SUM = "x_t += tl.sum(tl.where(cols == target, x, 0.0), axis=0)"

# What is swapped for what plants each; all of them together are the file that is handed out.
bugs = {
    "the target's logit is assigned in each block, so that a later one overwrites it with 0": {
        SUM: SUM.replace("+=", "=")
    },
    "the running sum is not rescaled when the maximum rises": {RESCALED: "l_i = l_i +"},
    "rows are taken to begin n_cols apart": {"row * stride_xm": "row * n_cols"},
    "lanes past the row load 0 and count in the maximum and the sum": {'other=-float("inf")': "other=0.0"},
}

# fmt: off
mistakes = [
    Mistake("the rescaling goes the wrong way", {RESCALED: "l_i = l_i * tl.exp(m_new - m_i) +"},
            "Keep exponents from being positive"),
    Mistake("the maximum is replaced before the sum is rescaled to it",
            {RESCALED: "m_i = m_new\n        l_i = l_i * tl.exp(m_i - m_new) +"}, "must be rescaled"),
    Mistake("the mean is over all rows", {COUNT: "count += mask.to(tl.float32)"}, "all rows"),
    Mistake("an ignored row counts in the sum", {STORED: "loss"}, "An ignored row counts in the sum"),
    Mistake("an ignored row is multiplied by 0, which a NaN survives",
            {STORED: "loss * (target != ignore_index).to(tl.float32)"}, "NaN", fails="limit"),
    Mistake("a large maximum is added before the target's logit is subtracted",
            {LOSS: "(m_i + tl.log(l_i)) - x_t"}, "close but not close enough"),
    Mistake("the target is looked for in the block, not in the row", {"cols == target": "offs_n == target"},
            "is inf where"),
    Mistake("the host counts the rows that are not ignored",
            {"n_rows, n_cols = logits.shape": "n_rows, n_cols = logits.shape\n    _ = target.tolist()"},
            "host"),
]
