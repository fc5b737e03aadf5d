"""Extra: what a selection by rewards and a reward model's step get wrong, and what must be said about it."""

from tools.planted import Mistake

CHOSEN = "tl.store(chosen_ptr + row * n_cols + cols, tl.where(swap, b, a), mask=mask)"
D = "d = chosen - rejected\n"
MARGIN = "tl.where(swap, -margin, margin)"
PULL = "pull += tl.sigmoid(-tl.sum(d * w, axis=0)) * d"
REJECTED = "tl.store(rejected_ptr + row * n_cols + cols, tl.where(swap, a, b), mask=mask)"
STORE_PART = "tl.store(part_ptr + pid * n_cols + offs_n, pull, mask=mask)"
SWAP = "swap = reward_b > reward_a"
W = "w + rate * tl.sum(acc, axis=0)"

# fmt: off
mistakes = [
    Mistake("a tie goes to b", {SWAP: "swap = reward_b >= reward_a"}, "tie goes to b"),
    Mistake("a pair with a reward of NaN goes to b", {SWAP: "swap = (reward_a >= reward_b) == 0"},
            "Where a reward is NaN b is chosen", fails="limit"),
    Mistake("the lower reward is chosen", {SWAP: "swap = reward_b < reward_a"}, "lower reward"),
    Mistake("the chosen row stands in both results", {REJECTED: REJECTED.replace("swap, a, b", "swap, b, a")},
            "both results"),
    Mistake("the margin is a's reward less b's", {MARGIN: "margin"}, "a's reward less b's"),
    Mistake("the margin is turned round", {MARGIN: "tl.where(swap, margin, -margin)"},
            "margin is turned round"),
    Mistake("the rows of b are taken to lie as those of a",
            {"b_ptr + row * stride_bm": "b_ptr + row * stride_am"}, "stride"),
    Mistake("the store of the chosen row has no mask", {CHOSEN: CHOSEN.replace(", mask=mask", "")},
            "Unmasked store"),
    Mistake("one element of each row",
            {"cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)": "cols = tl.arange(0, BLOCK_N) * 0"},
            "Columns from 1 on"),
    Mistake("the last rows are left out",
            {"min((pid + 1) * rows_each, n_rows)": "min((pid + 1) * rows_each, n_rows // 8 * 8)"},
            "w is after the call what it was"),
    Mistake("rows past the last one count", {"min((pid + 1) * rows_each, n_rows)": "(pid + 1) * rows_each"},
            "past the end of chosen"),
    Mistake("the sigmoid overflows",
            {PULL: "e = tl.exp(-tl.sum(d * w, axis=0))\n        pull += e / (1 + e) * d"},
            "Large values overflow", fails="edges"),
    Mistake("the pull is sigmoid(d.w)", {PULL: PULL.replace("-tl", "tl")}, "sigmoid(−d·w)"),
    Mistake("all pairs count alike", {PULL: "pull += d"}, "count alike"),
    Mistake(
        "the difference is taken in 16 bits",
        {
            "offs_n, mask=mask, other=0.0).to(tl.float32)\n        rejected": (
                "offs_n, mask=mask, other=0.0)\n        rejected"
            ),
            "rejected_ptr + row * stride_rm + offs_n, mask=mask, other=0.0).to(tl.float32)": (
                "rejected_ptr + row * stride_rm + offs_n, mask=mask, other=0.0)"
            ),
            D: "d = (chosen - rejected).to(tl.float32)\n",
        },
        "too low a precision",
    ),
    Mistake("the pulls are not divided by the number of pairs", {"lr / max(n_rows, 1)": "lr"},
            "divide by the number of pairs"),
    Mistake("the mean is over a program's rows", {"lr / max(n_rows, 1)": "lr / rows_each"},
            "a constant is another one"),
    Mistake("w is replaced", {W: "rate * tl.sum(acc, axis=0)"}, "replaces w"),
    Mistake("w moves downhill", {W: W.replace("+", "-")}, "wrong way"),
    Mistake("each program moves w as soon as it is done",
            {STORE_PART: "tl.store(part_ptr + pid * n_cols + offs_n, 0 * pull, mask=mask)\n"
             "    tl.store(w_ptr + offs_n, w + 3.0 / n_rows * pull, mask=mask)"}, "is right"),
    Mistake("all programs store to the first row of partial sums",
            {STORE_PART: STORE_PART.replace("pid * n_cols + ", "")}, "where no kernel wrote"),
    Mistake("half done: the last kernel is missing", {}, "w is after the call what it was before",
            undone=("step_kernel",), so_far="chosen ✓ · rejected ✓ · margin ✓ · not started: w"),
    Mistake("half done: the last two kernels are missing", {}, "never written",
            undone=("select_kernel", "step_kernel"), so_far="not started: chosen, rejected, margin, w"),
]
