"""Extra: what GRPO's loss and its gradient get wrong, and what the grader must say about it."""

from tools.planted import Mistake

ACC = "acc += tl.where(used, beta * (tl.exp(delta) - delta - 1) - kept * adv, 0.0)"
BACK = "tl.store(dlogp_ptr + at, tl.where(used, slope * by, 0.0), mask=cols < n_cols)"
BY = "by = tl.load(dmean_ptr) / (n_rows * tl.load(count_ptr + row))"
FIRST = "first = tl.load(group_ptr)\n"
OFF = "off = tl.where(mask, reward - mean, 0.0)"
OWN = "return (tl.load(rewards_ptr + row) - first - mean) / (std + 1e-4)"
SAVE = "ctx.save_for_backward(logp, old_logp, ref_logp, mask, advantages, counts)"
SLOPE = "slope = tl.where(clipped, 0.0, -ratio * adv) + beta * (1 - tl.exp(delta))"
UNDER = "under = (adv < 0) & (ratio < 1 - eps)"
USED = "n_used = tl.maximum(tl.sum(count, axis=0), 1).to(tl.float32)"

# fmt: off
mistakes = [
    Mistake("the ratio is clipped whichever way it moved",
            {"over = (adv > 0) & (ratio > 1 + eps)": "over = ratio > 1 + eps",
             UNDER: "under = ratio < 1 - eps"}, "clipped whichever way"),
    Mistake("a negative advantage is clipped above, as a positive one",
            {"over = (adv > 0) & (ratio > 1 + eps)": "over = ratio > 1 + eps", UNDER: "under = ratio < 0"},
            "an advantage below 0"),
    Mistake("clipped tokens have a gradient", {SLOPE: "slope = -ratio * adv + beta * (1 - tl.exp(delta))"},
            "Clipped tokens"),
    Mistake("the divergence has no gradient", {SLOPE: "slope = tl.where(clipped, 0.0, -ratio * adv)"},
            "divergence"),
    Mistake("nothing is added to the standard deviation", {OWN: OWN.replace("(std + 1e-4)", "std")},
            ("is right", "close but not close enough")),
    Mistake("the standard deviation is biased", {"(group_size - 1)": "group_size"},
            "the unbiased one divides by g"),
    Mistake("lanes past the group count", {OFF: "off = reward - mean"}, "is right"),
    Mistake("the rewards are found by the number of groups",
            {"row // group_size * group_size": "row % group_size * group_size"}, "past the end of rewards"),
    Mistake("the gain has the wrong sign", {ACC: ACC.replace("- kept", "+ kept")}, "sign of the gain"),
    Mistake("the divergence lacks -1", {ACC: ACC.replace(" - 1)", ")")}, "lacks −1"),
    Mistake("the tokens are divided by s", {USED: "n_used = tl.sum(count, axis=0) * 0.0 + n_cols"},
            "divided by s"),
    Mistake("an answer without tokens is 0 / 0", {USED: "n_used = tl.sum(count, axis=0).to(tl.float32)"},
            ("With s=0 nothing is added up or counted", "0 / 0 is NaN")),
    Mistake(
        "tokens that do not count are multiplied by 0",
        {
            ACC: ACC.replace("tl.where(used, ", "used.to(tl.float32) * (").replace("adv, 0.0)", "adv)"),
            "        logp = tl.load(logp_ptr + at, mask=used, other=0.0)\n": (
                "        logp = tl.load(logp_ptr + at, mask=cols < n_cols, other=0.0)\n"
            ),
        },
        "logp is not finite in places",
        fails="limit",
    ),
    Mistake("tokens that do not count get none, not even 0",
            {BACK: BACK.replace("mask=cols < n_cols", "mask=used")}, "never written"),
    Mistake("the upstream gradient is dropped", {BY: BY.replace("tl.load(dmean_ptr)", "1.0")}, "upstream"),
    Mistake("the gradient is not divided by the tokens", {BY: "by = tl.load(dmean_ptr) / n_rows"},
            "not divided by the number"),
    Mistake("the ratios are kept", {SAVE: f"{SAVE}\n        ctx.ratios = torch.empty_like(logp)"}, "keeps"),
    Mistake("half done: the last kernel is missing", {}, "never written", undone=("backward_kernel",),
            so_far="losses of answers ✓ · what backward reads ✓ · mean ✓ · not started: dlogp"),
    Mistake("half done: the last two kernels are missing", {}, "never written",
            undone=("mean_kernel", "backward_kernel"),
            so_far="losses of answers ✓ · what backward reads ✓ · not started: mean, dlogp"),
    Mistake("equal rewards have a mean beside them", {FIRST: "first = 0.0\n"}, "close but not close enough"),
    Mistake("the divergence is held at 0, which drops a NaN",
            {ACC: ACC.replace("(tl.exp(delta) - delta - 1)", "tl.maximum(tl.exp(delta) - delta - 1, 0.0)")},
            "where nan is right", fails="limit"),
    Mistake("the loss has no ratio above exp(3)",
            {"_, kept = held(ratio, adv, eps)": "_, kept = held(tl.minimum(ratio, 20.1), adv, eps)"},
            "is right. The gradient of logp: right in every case"),
    Mistake("the mean takes one block of answers",
            {"for start in range(0, n_rows, BLOCK_M):": "for start in range(0, BLOCK_M, BLOCK_M):"},
            "is right"),
]
