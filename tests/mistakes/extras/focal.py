"""Extra: what a focal loss and its slope get wrong, and what the grader must say about it."""

from tools.planted import Mistake

MASKED = "tl.sum(tl.where(mask, loss, 0.0), axis=0)"
NUMBERS = "(alpha, 1 - alpha, gamma) if alpha >= 0 else (1.0, 1.0, gamma)"
POWER = "power = tl.where(gamma == 0, 1.0, tl.exp2(gamma * LOG2E * libdevice.fast_logf(q)))"
Q = "q = against + (1 - 2 * against) * low"
BOTH = "(2 * against - 1) * (low - low * low)"
RELATIVE = f"relative = tl.where(q > 0, libdevice.fast_dividef({BOTH}, q), 0.0)"
SAVE = "ctx.save_for_backward(logits, target)"
SCALE = "slope * (tl.load(dmean_ptr) / count)"
SLOPE = "power * (against - low + gamma * ce * relative)"

# fmt: off
mistakes = [
    Mistake("the product rule's second term is forgotten", {SLOPE: "power * (against - low)"}, "second term"),
    Mistake("the product rule's first term is forgotten", {SLOPE: "power * (gamma * ce * relative)"},
            "first term"),
    Mistake("the second term has the wrong sign",
            {RELATIVE: RELATIVE.replace("2 * against - 1", "1 - 2 * against")}, "wrong sign"),
    Mistake("the second term lacks gamma", {SLOPE: "power * (against - low + ce * relative)"}, "lacks gamma"),
    Mistake("0 to the gamma - 1",
            {RELATIVE: f"relative = {BOTH}",
             SLOPE: "(power * (against - low) + gamma * ce * tl.exp2((gamma - 1) * tl.log2(q)) * relative)"},
            "0 · Inf", fails="correct or edges"),
    Mistake("0 times -inf where gamma is 0",
            {POWER: "power = tl.exp2(gamma * LOG2E * libdevice.fast_logf(q))"}, "0 · (-inf)",
            fails="correct or edges"),
    Mistake("0 / 0 where the model is sure and right", {RELATIVE: f"relative = {BOTH} / q"}, "0 / 0",
            fails="correct or edges"),
    Mistake("alpha weighs the negatives",
            {NUMBERS: NUMBERS.replace("(alpha, 1 - alpha,", "(1 - alpha, alpha,")}, "weighs the negatives"),
    Mistake("alpha weighs all alike", {NUMBERS: NUMBERS.replace("(alpha, 1 - alpha,", "(alpha, alpha,")},
            "is right"),
    Mistake("a negative alpha is a weight", {NUMBERS: "alpha, 1 - alpha, gamma"}, "negative alpha"),
    Mistake("q is 1 less a sigmoid",
            {Q: "p = tl.sigmoid(x)\n    q = t * (1 - p) + (1 - t) * (1 - tl.sigmoid(-x))"}, "is right",
            fails="correct or edges"),
    Mistake("lanes past the end count", {MASKED: "tl.sum(loss, axis=0)"}, "is right"),
    Mistake("the loss is a sum", {"tl.sum(acc, axis=0) / count": "tl.sum(acc, axis=0)"}, "sum"),
    Mistake("the upstream gradient is dropped", {SCALE: "slope / count"}, "upstream"),
    Mistake("the gradient is not divided", {SCALE: "slope * tl.load(dmean_ptr)"}, "not divided"),
    Mistake("the modulator is kept", {SAVE: f"{SAVE}\n        ctx.power = torch.empty_like(logits)"},
            "keeps"),
    Mistake("half done: the last kernel is missing", {}, "never written", undone=("backward_kernel",),
            so_far="sums of blocks ✓ · mean ✓ · not started: dlogits"),
    Mistake("half done: the last two kernels are missing", {}, "never written",
            undone=("mean_kernel", "backward_kernel"),
            so_far="sums of blocks ✓ · not started: mean, dlogits"),
    Mistake("an alpha of 1 weights nothing", {NUMBERS: NUMBERS.replace("alpha >= 0", "0 <= alpha < 1")},
            "The result is "),
]
