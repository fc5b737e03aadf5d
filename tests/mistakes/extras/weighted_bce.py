"""Extra: what a weighted binary cross-entropy gets wrong, and what the grader must say about it."""

from __future__ import annotations

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

mistakes = [
    Mistake(
        "logarithms of sigmoids, -inf far from 0",
        swap={TWO: "return -tl.log(tl.sigmoid(x)), -tl.log(tl.sigmoid(-x))"},
        fails="correct or edges",
        says="is right",
    ),
    Mistake(
        "log(1 + e) of a tiny e", swap={SERIES: "log1p = tl.log(1 + e)"}, fails="correct", says="is right"
    ),
    Mistake(
        "the exponential overflows",
        swap={"e = tl.exp(-tl.abs(x))": "e = tl.exp(-x)", TWO: "return log1p, x + log1p"},
        fails="correct or edges",
        says="is right",
    ),
    Mistake(
        "NaN vanishes in a maximum",
        swap={
            "e = tl.exp(-tl.abs(x))": "x = tl.maximum(x, -1e30)\n    e = tl.exp(-tl.abs(x))",
        },
        fails="limit",
        says="where nan is right",
    ),
    Mistake(
        "the targets have changed places",
        swap={LOSS: "loss = (1 - t) * if_yes + t * if_no"},
        fails="correct",
        says="changed places",
    ),
    Mistake(
        "the negatives are forgotten", swap={LOSS: "loss = t * if_yes"}, fails="correct", says="negatives"
    ),
    Mistake("lanes past the end cost log 2", swap={MASKED: ""}, fails="correct", says="log 2"),
    Mistake(
        "the loss is a sum",
        swap={"tl.sum(acc, axis=0) / count": "tl.sum(acc, axis=0)"},
        fails="correct",
        says="sum",
    ),
    Mistake(
        "the sum is divided by the rows",
        swap={COUNT: COUNT.replace("n_rows * n_cols", "n_rows")},
        fails="correct",
        says="rows alone",
    ),
    Mistake(
        "pos_weight multiplies both terms",
        swap={LOSS: f"{LOSS} * (if_yes / two_losses(x)[0])"},
        fails="correct or edges",
        says="multiplies both terms",
    ),
    Mistake(
        "pos_weight is counted by rows",
        swap={IN_LOSS + POS: IN_LOSS + BY_ROW},
        fails="correct",
        says="by rows",
    ),
    Mistake("the loss forgets weight", swap={WEIGHT: "pass"}, fails="correct", says="forgets weight"),
    Mistake(
        "the gradient forgets weight",
        swap={WEIGHT.replace("loss", "slope"): "pass"},
        fails="correct",
        says="gradient forgets weight",
    ),
    Mistake(
        "the gradient forgets pos_weight",
        swap={
            "    if_yes = t * tl.sigmoid(-x)\n    if pos_weight_ptr is not None:": (
                "    if_yes = t * tl.sigmoid(-x)\n    if pos_weight_ptr is None:"
            )
        },
        fails="correct",
        says="None stands in this line",
    ),
    Mistake(
        "the upstream gradient is dropped", swap={SCALE: "slope / count"}, fails="correct", says="upstream"
    ),
    Mistake(
        "the gradient is not divided",
        swap={SCALE: "slope * tl.load(dmean_ptr)"},
        fails="correct",
        says="not divided",
    ),
    Mistake(
        "the gradient is turned round",
        swap={SLOPE: f"{SLOPE}\n    slope = -slope"},
        fails="correct",
        says="turned round",
    ),
    Mistake(
        "the slope is a difference from 1",
        swap={SLOPE: "slope = (1 - t) * (1 - tl.sigmoid(-x)) - if_yes"},
        fails="correct or edges",
        says="is right",
    ),
    Mistake(
        "the upstream gradient is read on the host",
        swap={
            "        logits, target, weight, pos_weight = ctx.saved_tensors\n": (
                "        logits, target, weight, pos_weight = ctx.saved_tensors\n        dmean.item()\n"
            )
        },
        fails="correct",
        says="item",
    ),
    Mistake(
        "sigmoid is kept",
        swap={SAVE: f"{SAVE}\n        ctx.sigmoid = torch.empty_like(logits)"},
        fails="correct",
        says="keeps",
    ),
    Mistake(
        "torch finds the mean",
        swap={"        return mean\n": "        return part.sum() / (n_rows * n_cols)\n"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "half done: the last kernel is missing",
        swap={},
        fails="correct",
        says="never written",
        undone=("backward_kernel",),
        so_far="sums of tiles ✓ · mean ✓ · not started: dlogits",
    ),
    Mistake(
        "half done: the last two kernels are missing",
        swap={},
        fails="correct",
        says="never written",
        undone=(
            "mean_kernel",
            "backward_kernel",
        ),
        so_far="sums of tiles ✓ · not started: mean, dlogits",
    ),
]
