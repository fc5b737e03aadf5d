"""Extra: what batch norm and its backward pass get wrong, and what the grader must say about it."""

from tools.planted import Mistake

BETWEEN = "m2 = tl.sum(m2 + count * (means - mean) * (means - mean), axis=0)"
DX = "(dy - mean_dy - x_hat * mean_dy_x_hat) * (weight * rstd)"
FINISH = "        finish_kernel[(n_channels,)]("
MERGED = "m2 += m2_of_tile + delta * delta * count * share"
MOVE_MEAN = "running_mean + momentum * (mean - running_mean)"
MOVE_VAR = "running_var + momentum * (m2 / (n - 1) - running_var)"
PART_AT = "    at = part_ptr + (channel * n_splits + split) * 3\n    tl.store(at, count)"
PARTS = "part = torch.empty(n_channels, n_splits, 3, dtype=torch.float32"
RSTD = "tl.rsqrt(m2 / n + eps)"
SAVE = "ctx.save_for_backward(x, weight, mean, rstd)"
STORE_MEAN = "    tl.store(running_mean_ptr + channel, running_mean + momentum * (mean - running_mean))\n"
STORE_VAR = "    tl.store(running_var_ptr + channel, running_var + momentum * (m2 / (n - 1) - running_var))\n"
SUM = "sum_dy_x_hat += dy * ((x - mean) * rstd)"
Y = "(x - mean) * (rstd * weight) + bias"
Y_AT = (
    "# 2 bytes in and 2 out: with the first read 6 an element of fp16.\n"
    "    offs = (image * n_channels + channel) * n_pixels + pixel"
)

# fmt: off
mistakes = [
    Mistake("the running variance is the biased one", {MOVE_VAR: MOVE_VAR.replace("(n - 1)", "n")},
            "biased one"),
    Mistake("y takes the unbiased variance", {RSTD: RSTD.replace("/ n", "/ (n - 1)")}, "unbiased variance"),
    Mistake("momentum is turned round",
            {MOVE_MEAN: "mean + momentum * (running_mean - mean)",
             MOVE_VAR: "m2 / (n - 1) + momentum * (running_var - m2 / (n - 1))"}, "turned round"),
    Mistake("the running statistics move twice",
            {FINISH: FINISH.replace("finish", "for _ in range(2): finish")}, "twice"),
    Mistake("the running statistics do not move", {STORE_MEAN: "", STORE_VAR: ""}, "what it was before"),
    Mistake("the old statistics do not fade",
            {MOVE_MEAN: "running_mean + momentum * mean",
             MOVE_VAR: "running_var + momentum * (m2 / (n - 1))"}, "do not fade"),
    Mistake(
        "what lies between the means of two tiles is left out",
        {MERGED: "m2 += m2_of_tile"},
        ("is right", "close but not close enough"),
        cpu=True,  # 132 SMs get a tile a split in each case but the bar's
    ),
    Mistake("what lies between the means of two splits is left out", {BETWEEN: "m2 = tl.sum(m2, axis=0)"},
            ("is right", "close but not close enough")),
    Mistake("channels are taken to lie in one piece",
            {Y_AT: Y_AT.replace("image * n_channels + channel", "channel * n_images + image")}, "is right"),
    Mistake("all splits of a channel store to one place",
            {PART_AT: PART_AT.replace("(channel * n_splits + split)", "channel * n_splits")},
            ("race", "torch.empty")),
    Mistake("the parts are kept in the dtype of x", {PARTS: PARTS.replace("torch.float32", "x.dtype")},
            "precision"),
    Mistake("eps is added outside of the root", {RSTD: "1 / (tl.sqrt(m2 / n) + eps)"}, "outside of the root"),
    Mistake("the bias is added before the weight", {Y: "((x - mean) * rstd + bias) * weight"},
            "before the weight"),
    Mistake("dx takes mean and rstd for constants", {DX: "dy * (weight * rstd)"}, "constants"),
    Mistake("dx lacks the mean of dy", {DX: DX.replace(" - mean_dy - ", " - ")}, "first mean"),
    Mistake("dx lacks the part along x_hat", {DX: DX.replace(" - x_hat * mean_dy_x_hat", "")}, "second mean"),
    Mistake("the sums in dx are not divided",
            {"mean_dy = tl.load(total_ptr + channel * 2) / n": "mean_dy = tl.load(total_ptr + channel * 2)",
             "tl.load(total_ptr + channel * 2 + 1) / n": "tl.load(total_ptr + channel * 2 + 1)"},
            "not divided"),
    Mistake("dx lacks the weight", {DX: DX.replace("weight * rstd", "rstd")}, "lacks the weight"),
    Mistake("dx lacks rstd", {DX: DX.replace("weight * rstd", "weight")}, "lacks its last factor"),
    Mistake("dweight is summed with x", {SUM: "sum_dy_x_hat += dy * x"}, "with x"),
    Mistake("dy is taken to be contiguous", {"*dy.stride(), dy.is_contiguous()": "*dy.stride(), True"},
            "stride", fails="edges"),
    Mistake("y is kept as well", {SAVE: f"{SAVE}\n        ctx.y = torch.empty_like(y)"}, "keeps"),
    Mistake("torch moves the running mean",
            {STORE_MEAN: "", SAVE: f"running_mean.lerp_(mean, momentum)\n        {SAVE}"},
            ("torch", "outside of your kernel"), fails="correct or honest"),
    Mistake("half done: the gradients are missing", {}, "never written",
            undone=("gradient_sums_kernel", "finish_gradients_kernel", "dx_kernel"),
            so_far="parts of a channel ✓ · mean and variance ✓ · y ✓ · "
             "not started: gradient sums, dweight and dbias, dx"),
    Mistake("half done: mean and variance are there, and y is not", {}, "never written",
            undone=("normalize_kernel", "gradient_sums_kernel", "finish_gradients_kernel", "dx_kernel"),
            so_far="parts of a channel ✓ · mean and variance ✓ · "
             "not started: y, gradient sums, dweight and dbias, dx"),
    Mistake(
        "what backward needs is kept in a global, not on ctx",
        {
            "ctx.save_for_backward(x, weight, mean, rstd)": (
                "global KEPT\n        KEPT = x, weight, mean, rstd"
            ),
            "x, weight, mean, rstd = ctx.saved_tensors": "x, weight, mean, rstd = KEPT",
        },
        "another forward pass",
        fails="edges",
    ),
]
