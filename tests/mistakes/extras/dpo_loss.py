"""Extra: what log-probabilities and DPO's loss get wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

AIM = "(tl.where(cols == label, 1.0, 0.0) - p) * dlogprob"
BACK = "        tl.store(dlogits_ptrs, tl.zeros((BLOCK_N,), tl.float32), mask=mask)\n"
DLOGPROB = "tl.load(dlogprob_ptr + row * stride_db + step * stride_ds)"
LOAD = 'mask=cols < n_cols, other=-float("inf")'
LOG1P = "log1p = tl.where(one_more == 1, e, tl.log(one_more) * (e / (one_more - 1)))"
LOGPROB = "logprob = (tl.load(logits_ptr + label).to(tl.float32) - m) - tl.log(l_row)"
LOSS = "tl.where(z < 0, -z, 0.0) + log1p"
RESCALED = "l_i = l_i * tl.exp2((m_i - m_new) * LOG2_E) + tl.sum(p, axis=0)"
SAVE = "ctx.save_for_backward(logits, labels, maxima, sums)"
WRONG = "wrong = tl.sigmoid(-beta * (chosen - rejected))"
Z = "z = beta * (chosen - rejected)\n"

mistakes = [
    Mistake(
        "the sum so far is not rescaled when the maximum rises",
        swap={RESCALED: "l_i += tl.sum(p, axis=0)"},
        fails="correct or edges",
        says="is right",
    ),
    Mistake(
        "lanes past the row hold 0",
        swap={LOAD: "mask=cols < n_cols, other=0.0"},
        fails="correct",
        says="Lanes past the row",
    ),
    Mistake(
        "-100 is an index like any other",
        swap={
            "    if label != MASKED:\n        # Each": "    if True:\n        # Each",
            "    if label != MASKED:\n        row,": "    if True:\n        row,",
        },
        fails="correct",
        says="before the start of logits",
    ),
    Mistake(
        "masked tokens are those of label 0",
        swap={
            "label = tl.load(labels_ptr + token)\n    logprob = 0.0\n    if label != MASKED:": (
                "label = tl.maximum(tl.load(labels_ptr + token), 0)\n    logprob = 0.0\n    if True:"
            )
        },
        fails="correct",
        says="log-probability of label 0",
    ),
    Mistake(
        "masked tokens get no gradient, not even 0",
        swap={
            "    else:\n        # Its logits may be NaN, and 0 times NaN is NaN: they are not even read.\n"
            + BACK: ""
        },
        fails="correct",
        says="never written",
    ),
    Mistake(
        "masked tokens get a gradient",
        swap={"        row, step = token": "        pass\n    if True:\n        row, step = token"},
        fails="correct",
        says="memory that nobody wrote",
    ),
    Mistake(
        "the logarithm's sign is turned round",
        swap={LOGPROB: "logprob = tl.log(l_row) - (tl.load(logits_ptr + label).to(tl.float32) - m)"},
        fails="correct",
        says="turned round",
    ),
    Mistake(
        "the label is missing from the gradient",
        swap={AIM: "(0.0 - p) * dlogprob"},
        fails="correct",
        says="lacks the label",
    ),
    Mistake(
        "the gradient is turned round",
        swap={AIM: "(p - tl.where(cols == label, 1.0, 0.0)) * dlogprob"},
        fails="correct",
        says="turned round",
    ),
    Mistake(
        "the upstream gradient is dropped",
        swap={AIM: "(tl.where(cols == label, 1.0, 0.0) - p)"},
        fails="correct",
        says="upstream gradient is dropped",
    ),
    Mistake(
        "all tokens take the first one's upstream gradient",
        swap={DLOGPROB: "tl.load(dlogprob_ptr)"},
        fails="correct",
        says="first one's upstream gradient",
    ),
    Mistake(
        "upstream gradients are taken to be contiguous",
        swap={DLOGPROB: "tl.load(dlogprob_ptr + token)"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "rows are taken to be n_cols apart",
        swap={
            "logits_ptr += token // n_steps * stride_b + token % n_steps * stride_s": (
                "logits_ptr += token * n_cols"
            )
        },
        fails="edges",
        says="loads from a gap between",
    ),
    Mistake(
        "softmax is kept",
        swap={SAVE: f"{SAVE}\n        ctx.softmax = torch.empty_like(logits)"},
        fails="correct",
        says="keeps",
    ),
    Mistake(
        "torch adds up the tokens",
        swap={"        return logprobs\n": "        return logprobs + 0\n"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "-log sigmoid as it stands, -inf below -88",
        swap={LOSS: "-tl.log(tl.sigmoid(z))"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "log(1 + e) of a tiny e",
        swap={LOG1P: "log1p = tl.log(one_more)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "beta counts twice", swap={Z: f"{Z}    z = beta * z\n"}, fails="correct", says="beta counts twice"
    ),
    Mistake(
        "the loss is turned round",
        swap={LOSS: "tl.where(z > 0, z, 0.0) + log1p"},
        fails="correct",
        says="turned round",
    ),
    Mistake(
        "the gradient takes sigmoid of z",
        swap={WRONG: WRONG.replace("-beta", "beta")},
        fails="correct",
        says="sigmoid(z)",
    ),
    Mistake(
        "the loss pulls the rejected answer up",
        swap={"by_rejected + by_loss": "by_rejected - by_loss"},
        fails="correct",
        says="rejected answer up",
    ),
    Mistake(
        "the gradients of the rewards are forgotten",
        swap={"by_chosen - by_loss": "-by_loss", "by_rejected + by_loss": "by_loss"},
        fails="correct",
        says="rewards are dropped",
    ),
    Mistake(
        "half done: the last kernel is missing",
        swap={},
        fails="correct",
        says="never written",
        undone=("dpo_backward_kernel",),
        so_far="log-probabilities ✓ · dlogits ✓ · loss ✓ · rewards ✓ · not started: both gradients",
    ),
    Mistake(
        "half done: the last two kernels are missing",
        swap={},
        fails="correct",
        says="never written",
        undone=(
            "dpo_kernel",
            "dpo_backward_kernel",
        ),
        so_far="log-probabilities ✓ · dlogits ✓ · not started: loss, rewards, both gradients",
    ),
    Mistake(
        "the loss's gradient is read by the stride of a reward's",
        swap={"dloss_ptr + offs * stride_dl": "dloss_ptr + offs * stride_dc"},
        fails="edges",
        says="is right",
    ),
    Mistake(
        "the maximum starts from 0",
        swap={"m_i = tl.full((LANES,), LOWEST, tl.float32)": "m_i = tl.zeros((LANES,), tl.float32)"},
        fails="edges",
        says="What is divided by, or what a logarithm",
    ),
]
