"""Extra: what a selection by rewards and a reward model's step get wrong, and what must be said about it."""

from __future__ import annotations

from tools.planted import Mistake

CHOSEN = "tl.store(chosen_ptr + row * n_cols + cols, tl.where(swap, b, a), mask=mask)"
D = "d = chosen - rejected\n"
MARGIN = "tl.where(swap, -margin, margin)"
PULL = "pull += tl.sigmoid(-tl.sum(d * w, axis=0)) * d"
REJECTED = "tl.store(rejected_ptr + row * n_cols + cols, tl.where(swap, a, b), mask=mask)"
STORE_PART = "tl.store(part_ptr + pid * n_cols + offs_n, pull, mask=mask)"
SWAP = "swap = reward_b > reward_a"
W = "w + rate * tl.sum(acc, axis=0)"

mistakes = [
    Mistake(
        "a tie goes to b", swap={SWAP: "swap = reward_b >= reward_a"}, fails="correct", says="tie goes to b"
    ),
    Mistake(
        "a pair with a reward of NaN goes to b",
        swap={SWAP: "swap = (reward_a >= reward_b) == 0"},
        fails="limit",
        says="Where a reward is NaN b is chosen",
    ),
    Mistake(
        "the lower reward is chosen",
        swap={SWAP: "swap = reward_b < reward_a"},
        fails="correct",
        says="lower reward",
    ),
    Mistake(
        "all pairs go the way of the first one",
        swap={
            "tl.load(reward_a_ptr + row), tl.load(reward_b_ptr + row)": (
                "tl.load(reward_a_ptr), tl.load(reward_b_ptr)"
            )
        },
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the chosen row stands in both results",
        swap={REJECTED: REJECTED.replace("swap, a, b", "swap, b, a")},
        fails="correct",
        says="both results",
    ),
    Mistake(
        "the margin is a's reward less b's",
        swap={MARGIN: "margin"},
        fails="correct",
        says="a's reward less b's",
    ),
    Mistake(
        "the margin is turned round",
        swap={MARGIN: "tl.where(swap, margin, -margin)"},
        fails="correct",
        says="margin is turned round",
    ),
    Mistake(
        "the rows of b are taken to lie as those of a",
        swap={"b_ptr + row * stride_bm": "b_ptr + row * stride_am"},
        fails="correct",
        says="stride",
    ),
    Mistake(
        "the store of the chosen row has no mask",
        swap={CHOSEN: CHOSEN.replace(", mask=mask", "")},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake(
        "one element of each row",
        swap={
            "cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)": "cols = tl.arange(0, BLOCK_N) * 0"
        },
        fails="correct",
        says="Columns from 1 on",
    ),
    Mistake(
        "the last rows are left out",
        swap={"min((pid + 1) * rows_each, n_rows)": "min((pid + 1) * rows_each, n_rows // 8 * 8)"},
        fails="correct",
        says="w is after the call what it was",
    ),
    Mistake(
        "rows past the last one count",
        swap={"min((pid + 1) * rows_each, n_rows)": "(pid + 1) * rows_each"},
        fails="correct",
        says="past the end of chosen",
    ),
    Mistake(
        "the sigmoid overflows",
        swap={
            PULL: "e = tl.exp(-tl.sum(d * w, axis=0))\n        pull += e / (1 + e) * d",
        },
        fails="edges",
        says="Large values overflow",
    ),
    Mistake(
        "the pull is sigmoid(d.w)",
        swap={PULL: PULL.replace("-tl", "tl")},
        fails="correct",
        says="sigmoid(−d·w)",
    ),
    Mistake("all pairs count alike", swap={PULL: "pull += d"}, fails="correct", says="count alike"),
    Mistake(
        "the difference is taken in 16 bits",
        swap={
            "offs_n, mask=mask, other=0.0).to(tl.float32)\n        rejected": (
                "offs_n, mask=mask, other=0.0)\n        rejected"
            ),
            "rejected_ptr + row * stride_rm + offs_n, mask=mask, other=0.0).to(tl.float32)": (
                "rejected_ptr + row * stride_rm + offs_n, mask=mask, other=0.0)"
            ),
            D: "d = (chosen - rejected).to(tl.float32)\n",
        },
        fails="correct",
        says="half precision is too low",
    ),
    Mistake(
        "the pulls are not divided by the number of pairs",
        swap={"lr / max(n_rows, 1)": "lr"},
        fails="correct",
        says="divide by the number of pairs",
    ),
    Mistake(
        "the mean is over a program's rows",
        swap={"lr / max(n_rows, 1)": "lr / rows_each"},
        fails="correct",
        says="a constant is another one",
    ),
    Mistake("w is replaced", swap={W: "rate * tl.sum(acc, axis=0)"}, fails="correct", says="replaces w"),
    Mistake("w moves downhill", swap={W: W.replace("+", "-")}, fails="correct", says="wrong way"),
    Mistake(
        "each program moves w as soon as it is done",
        swap={
            STORE_PART: "tl.store(part_ptr + pid * n_cols + offs_n, 0 * pull, mask=mask)\n"
            "    tl.store(w_ptr + offs_n, w + 3.0 / n_rows * pull, mask=mask)"
        },
        fails="correct",
        says="is right",
    ),
    Mistake(
        "all programs store to the first row of partial sums",
        swap={STORE_PART: STORE_PART.replace("pid * n_cols + ", "")},
        fails="correct",
        says="where no kernel wrote",
    ),
    Mistake(
        "w is a new tensor",
        swap={
            "    # n rows of a sum, or none": "    w = torch.empty_like(w)\n    # n rows of a sum, or none",
        },
        fails="correct",
        says="w is after the call what it was",
    ),
    Mistake(
        "half done: the last kernel is missing",
        swap={},
        fails="correct",
        says="w is after the call what it was before",
        undone=("step_kernel",),
        so_far="chosen ✓ · rejected ✓ · margin ✓ · not started: w",
    ),
    Mistake(
        "half done: the last two kernels are missing",
        swap={},
        fails="correct",
        says="never written",
        undone=(
            "select_kernel",
            "step_kernel",
        ),
        so_far="not started: chosen, rejected, margin, w",
    ),
    Mistake(
        "a pair whose second reward is NaN goes to b",
        swap={SWAP: "swap = (reward_b > reward_a) | (reward_b != reward_b)"},
        fails="limit",
        says="Where a reward is NaN b is chosen",
    ),
]
