"""Extra: what a fused cross-entropy gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

AIM = "aim = tl.where(cols == target, 1 - smoothing, 0.0) + smoothing / n_cols"
AIMED = "aim = (1 - smoothing) * x_target + smoothing * (tl.sum(total, axis=0) / n_cols)"
BACK = "        tl.store(dlogits_ptrs, tl.zeros((BLOCK_N,), tl.float32), mask=mask)\n"
COUNT = "count += (target != ignore_index).to(tl.int32)"
LOAD = 'mask=cols < n_cols, other=-float("inf")'
RESCALED = "l_i = l_i * tl.exp2((m_i - m_new) * LOG2_E) + tl.sum(p, axis=0)"
SAVE = "ctx.save_for_backward(logits, target, maxima, sums, count)"
SCALE = "scale = tl.load(dloss_ptr) / tl.load(count_ptr)"

# fmt: off
mistakes = [
    Mistake("the sum is divided by all rows", {COUNT: "count += (rows < n_rows).to(tl.int32)"},
            "divided by all rows"),
    Mistake("the loss is a sum", {"tl.sum(loss, axis=0) / n_valid": "tl.sum(loss, axis=0)"}, "sum"),
    Mistake("ignored rows get a gradient",
            {BACK: "        tl.store(dlogits_ptrs, tl.zeros((BLOCK_N,), tl.float32) + 1e-3, mask=mask)\n"},
            "close but not close enough"),
    Mistake("ignored rows get none, not even 0", {f"    else:\n{BACK}": ""}, "never written"),
    Mistake("the upstream gradient is dropped", {SCALE: "scale = 1 / tl.load(count_ptr)"},
            "upstream gradient is dropped"),
    Mistake("the gradient is not divided by the count", {SCALE: "scale = tl.load(dloss_ptr)"}, "not divided"),
    Mistake("the sum so far is not rescaled when the maximum rises", {RESCALED: "l_i += tl.sum(p, axis=0)"},
            "is right", fails="correct or edges"),
    Mistake("lanes past the row hold 0", {LOAD: "mask=cols < n_cols, other=0.0"}, "Lanes past the row"),
    Mistake("lanes past the row take part in the smoothing",
            {"tl.sum(tl.where(cols < n_cols, x, 0.0), axis=0)": "tl.sum(x, axis=0)"}, "is inf where"),
    Mistake("the gradient forgets the smoothing", {AIM: "aim = tl.where(cols == target, 1.0, 0.0)"},
            "gradient forgets label_smoothing"),
    Mistake("the target keeps its whole 1 beside the smoothing", {AIM: AIM.replace("1 - smoothing", "1.0")},
            "a whole 1"),
    Mistake("the loss forgets the smoothing", {AIMED: "aim = x_target"}, "loss forgets label_smoothing"),
    Mistake("the gradient is softmax alone", {AIM: "aim = smoothing / n_cols"}, "lacks the target"),
    Mistake("rows are taken to be n_cols apart",
            {"logits_ptr += row * stride_m": "logits_ptr += row * n_cols"}, "stride", fails="edges"),
    Mistake("the count is read on the host", {SAVE: f"{SAVE}\n        ctx.number = count.item()"}, "item"),
    Mistake("softmax is kept", {SAVE: f"{SAVE}\n        ctx.softmax = torch.empty_like(logits)"}, "keeps"),
    Mistake("half done: the losses of rows alone", {}, "never written",
            undone=("mean_kernel", "backward_kernel"),
            so_far="losses of rows ✓ · what backward reads ✓ · not started: mean, count, dlogits"),
    Mistake("half done: the forward pass alone", {}, "never written", undone=("backward_kernel",),
            so_far="losses of rows ✓ · what backward reads ✓ · mean ✓ · count ✓ · not started: dlogits"),
    Mistake("a running maximum of nothing but -inf", {"(LANES,), LOWEST": '(LANES,), -float("inf")'}, "NaN",
            fails="correct or edges"),
    Mistake("the maximum starts from 0",
            {"m_i = tl.full((LANES,), LOWEST, tl.float32)": "m_i = tl.zeros((LANES,), tl.float32)"},
            "What is divided by, or what a logarithm"),
]
