"""Extra: what a weighted binary cross-entropy gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

COUNT = "        mean_kernel[(1,)](part, mean, tiles, n_rows * n_cols,"
SERIES = "log1p = 2 * r * (1 + s * (1 / 3 + s * (1 / 5 + s * (1 / 7 + s * (1 / 9 + s * (1 / 11))))))"
LOSS = "loss = t * if_yes + (1 - t) * if_no"
MASKED = "    loss = tl.where(mask, loss, 0.0)\n"
IN_LOSS = "if_yes, if_no = two_losses(x)\n    if pos_weight_ptr is not None:\n        "
POS = "if_yes *= tl.load(pos_weight_ptr + offs_n, mask=offs_n < n_cols, other=0.0).to(tl.float32)[None, :]"
BY_ROW = "if_yes *= tl.load(pos_weight_ptr + at // n_cols % n_cols, mask=mask, other=0.0).to(tl.float32)"
SAVE = "ctx.save_for_backward(logits, target, weight, pos_weight)"
SCALE = "slope * (tl.load(dmean_ptr) / count)"
SLOPE = "slope = (1 - t) * tl.sigmoid(x) - if_yes"
TWO = "return tl.where(x < 0, -x, 0.0) + log1p, tl.where(x > 0, x, 0.0) + log1p"
WEIGHT = "loss *= tl.load(weight_ptr + at, mask=mask, other=0.0).to(tl.float32)"

# fmt: off
mistakes = [
    Mistake("logarithms of sigmoids, -inf far from 0",
            {TWO: "return -tl.log(tl.sigmoid(x)), -tl.log(tl.sigmoid(-x))"}, "is right",
            fails="correct or edges"),
    Mistake("log(1 + e) of a tiny e", {SERIES: "log1p = tl.log(1 + e)"}, "is right"),
    Mistake("the exponential overflows",
            {"e = tl.exp(-tl.abs(x))": "e = tl.exp(-x)", TWO: "return log1p, x + log1p"}, "is right",
            fails="correct or edges"),
    Mistake("NaN vanishes in a maximum",
            {"e = tl.exp(-tl.abs(x))": "x = tl.maximum(x, -1e30)\n    e = tl.exp(-tl.abs(x))"},
            "where nan is right", fails="limit"),
    Mistake("the targets have changed places", {LOSS: "loss = (1 - t) * if_yes + t * if_no"},
            "changed places"),
    Mistake("the negatives are forgotten", {LOSS: "loss = t * if_yes"}, "negatives"),
    Mistake("lanes past the end cost log 2", {MASKED: ""}, "log 2"),
    Mistake("the loss is a sum", {"tl.sum(acc, axis=0) / count": "tl.sum(acc, axis=0)"}, "sum"),
    Mistake("the sum is divided by the rows", {COUNT: COUNT.replace("n_rows * n_cols", "n_rows")},
            "rows alone"),
    Mistake("pos_weight multiplies both terms", {LOSS: f"{LOSS} * (if_yes / two_losses(x)[0])"},
            "multiplies both terms", fails="correct or edges"),
    Mistake("pos_weight is counted by rows", {IN_LOSS + POS: IN_LOSS + BY_ROW}, "by rows"),
    Mistake("the loss forgets weight", {WEIGHT: "pass"}, "forgets weight"),
    Mistake("the gradient forgets weight", {WEIGHT.replace("loss", "slope"): "pass"},
            "gradient forgets weight"),
    Mistake(
        "the gradient forgets pos_weight",
        {
            "    if_yes = t * tl.sigmoid(-x)\n    if pos_weight_ptr is not None:": (
                "    if_yes = t * tl.sigmoid(-x)\n    if pos_weight_ptr is None:"
            )
        },
        "None stands in this line",
    ),
    Mistake("the upstream gradient is dropped", {SCALE: "slope / count"}, "upstream"),
    Mistake("the gradient is not divided", {SCALE: "slope * tl.load(dmean_ptr)"}, "not divided"),
    Mistake("the gradient is turned round", {SLOPE: f"{SLOPE}\n    slope = -slope"}, "turned round"),
    Mistake(
        "the upstream gradient is read on the host",
        {
            "        logits, target, weight, pos_weight = ctx.saved_tensors\n": (
                "        logits, target, weight, pos_weight = ctx.saved_tensors\n        dmean.item()\n"
            )
        },
        "item",
    ),
    Mistake("sigmoid is kept", {SAVE: f"{SAVE}\n        ctx.sigmoid = torch.empty_like(logits)"}, "keeps"),
    Mistake("half done: the last kernel is missing", {}, "never written", undone=("backward_kernel",),
            so_far="sums of tiles ✓ · mean ✓ · not started: dlogits"),
    Mistake("half done: the last two kernels are missing", {}, "never written",
            undone=("mean_kernel", "backward_kernel"), so_far="sums of tiles ✓ · not started: mean, dlogits"),
]
