"""Extra: what log-probabilities and DPO's loss get wrong, and what the grader must say about it."""

from tools.planted import Mistake

AIM = "(tl.where(cols == label, 1.0, 0.0) - p) * dlogprob"
BACK = "        tl.store(dlogits_ptrs, tl.zeros((BLOCK_N,), tl.float32), mask=mask)\n"
DLOGPROB = "tl.load(dlogprob_ptr + row * stride_db + step * stride_ds)"
LOAD = 'mask=cols < n_cols, other=-float("inf")'
LOSS = "tl.where(z < 0, -z, 0.0) + log1p"
RESCALED = "l_i = l_i * tl.exp2((m_i - m_new) * LOG2_E) + tl.sum(p, axis=0)"
SAVE = "ctx.save_for_backward(logits, labels, maxima, sums)"
WRONG = "wrong = tl.sigmoid(-beta * (chosen - rejected))"
Z = "z = beta * (chosen - rejected)\n"

# fmt: off
mistakes = [
    Mistake("the sum so far is not rescaled when the maximum rises", {RESCALED: "l_i += tl.sum(p, axis=0)"},
            "is right", fails="correct or edges"),
    Mistake("lanes past the row hold 0", {LOAD: "mask=cols < n_cols, other=0.0"}, "Lanes past the row"),
    Mistake("-100 is an index like any other",
            {"    if label != MASKED:\n        # Each": "    if True:\n        # Each",
             "    if label != MASKED:\n        row,": "    if True:\n        row,"},
            "before the start of logits"),
    Mistake(
        "masked tokens are those of label 0",
        {
            "label = tl.load(labels_ptr + token)\n    logprob = 0.0\n    if label != MASKED:": (
                "label = tl.maximum(tl.load(labels_ptr + token), 0)\n    logprob = 0.0\n    if True:"
            )
        },
        "log-probability of label 0",
    ),
    Mistake(
        "masked tokens get no gradient, not even 0",
        {
            "    else:\n        # Its logits may be NaN, and 0 times NaN is NaN: they are not even read.\n"
            + BACK: ""
        },
        "never written",
    ),
    Mistake("masked tokens get a gradient",
            {"        row, step = token": "        pass\n    if True:\n        row, step = token"},
            "memory that nobody wrote"),
    Mistake("the label is missing from the gradient", {AIM: "(0.0 - p) * dlogprob"}, "lacks the label"),
    Mistake("the upstream gradient is dropped", {AIM: "(tl.where(cols == label, 1.0, 0.0) - p)"},
            "upstream gradient is dropped"),
    Mistake("all tokens take the first one's upstream gradient", {DLOGPROB: "tl.load(dlogprob_ptr)"},
            "first one's upstream gradient"),
    Mistake("upstream gradients are taken to be contiguous", {DLOGPROB: "tl.load(dlogprob_ptr + token)"},
            "stride", fails="edges"),
    Mistake(
        "rows are taken to be n_cols apart",
        {
            "logits_ptr += token // n_steps * stride_b + token % n_steps * stride_s": (
                "logits_ptr += token * n_cols"
            )
        },
        "loads from a gap between",
        fails="edges",
    ),
    Mistake("softmax is kept", {SAVE: f"{SAVE}\n        ctx.softmax = torch.empty_like(logits)"}, "keeps"),
    Mistake("-log sigmoid as it stands, -inf below -88", {LOSS: "-tl.log(tl.sigmoid(z))"}, "is right"),
    Mistake("beta counts twice", {Z: f"{Z}    z = beta * z\n"}, "beta counts twice"),
    Mistake("the loss is turned round", {LOSS: "tl.where(z > 0, z, 0.0) + log1p"}, "turned round"),
    Mistake("the gradient takes sigmoid of z", {WRONG: WRONG.replace("-beta", "beta")}, "sigmoid(z)"),
    Mistake("the loss pulls the rejected answer up", {"by_rejected + by_loss": "by_rejected - by_loss"},
            "rejected answer up"),
    Mistake("the gradients of the rewards are forgotten",
            {"by_chosen - by_loss": "-by_loss", "by_rejected + by_loss": "by_loss"}, "rewards are dropped"),
    Mistake("half done: the last kernel is missing", {}, "never written", undone=("dpo_backward_kernel",),
            so_far="log-probabilities ✓ · dlogits ✓ · loss ✓ · rewards ✓ · not started: both gradients"),
    Mistake("half done: the last two kernels are missing", {}, "never written",
            undone=("dpo_kernel", "dpo_backward_kernel"),
            so_far="log-probabilities ✓ · dlogits ✓ · not started: loss, rewards, both gradients"),
    Mistake("the loss's gradient is read by the stride of a reward's",
            {"dloss_ptr + offs * stride_dl": "dloss_ptr + offs * stride_dc"}, "is right", fails="edges"),
    Mistake("the maximum starts from 0",
            {"m_i = tl.full((LANES,), LOWEST, tl.float32)": "m_i = tl.zeros((LANES,), tl.float32)"},
            "What is divided by, or what a logarithm", fails="edges"),
]
