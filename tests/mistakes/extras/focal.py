"""Extra: what a focal loss and its slope get wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

CE = "ce = tl.abs(x) * against + log1p(e)"
MASKED = "tl.sum(tl.where(mask, loss, 0.0), axis=0)"
NUMBERS = "(alpha, 1 - alpha, gamma) if alpha >= 0 else (1.0, 1.0, gamma)"
POWER = "power = tl.where(gamma == 0, 1.0, tl.exp2(gamma * LOG2E * libdevice.fast_logf(q)))"
Q = "q = against + (1 - 2 * against) * low"
BOTH = "(2 * against - 1) * (low - low * low)"
RELATIVE = f"relative = tl.where(q > 0, libdevice.fast_dividef({BOTH}, q), 0.0)"
SAVE = "ctx.save_for_backward(logits, target)"
SCALE = "slope * (tl.load(dmean_ptr) / count)"
SLOPE = "power * (against - low + gamma * ce * relative)"

mistakes = [
    Mistake(
        "the product rule's second term is forgotten",
        swap={SLOPE: "power * (against - low)"},
        fails="correct",
        says="second term",
    ),
    Mistake(
        "the product rule's first term is forgotten",
        swap={SLOPE: "power * (gamma * ce * relative)"},
        fails="correct",
        says="first term",
    ),
    Mistake(
        "the second term has the wrong sign",
        swap={RELATIVE: RELATIVE.replace("2 * against - 1", "1 - 2 * against")},
        fails="correct",
        says="wrong sign",
    ),
    Mistake(
        "the second term lacks gamma",
        swap={SLOPE: "power * (against - low + ce * relative)"},
        fails="correct",
        says="lacks gamma",
    ),
    Mistake(
        "0 to the gamma - 1",
        swap={
            RELATIVE: f"relative = {BOTH}",
            SLOPE: "(power * (against - low) + gamma * ce * tl.exp2((gamma - 1) * tl.log2(q)) * relative)",
        },
        fails="correct or edges",
        says="0 · Inf",
    ),
    Mistake(
        "0 times -inf where gamma is 0",
        swap={POWER: "power = tl.exp2(gamma * LOG2E * libdevice.fast_logf(q))"},
        fails="correct or edges",
        says="0 · (-inf)",
    ),
    Mistake(
        "0 / 0 where the model is sure and right",
        swap={RELATIVE: f"relative = {BOTH} / q"},
        fails="correct or edges",
        says="0 / 0",
    ),
    Mistake(
        "alpha weighs the negatives",
        swap={NUMBERS: NUMBERS.replace("(alpha, 1 - alpha,", "(1 - alpha, alpha,")},
        fails="correct",
        says="weighs the negatives",
    ),
    Mistake(
        "alpha weighs all alike",
        swap={NUMBERS: NUMBERS.replace("(alpha, 1 - alpha,", "(alpha, alpha,")},
        fails="correct",
        says="alike",
    ),
    Mistake(
        "a negative alpha is a weight",
        swap={NUMBERS: "alpha, 1 - alpha, gamma"},
        fails="correct",
        says="negative alpha",
    ),
    Mistake(
        "q is how right the model is",
        swap={Q: f"{Q}\n    q = 1 - q"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "q is 1 less a sigmoid",
        swap={Q: "p = tl.sigmoid(x)\n    q = t * (1 - p) + (1 - t) * (1 - tl.sigmoid(-x))"},
        fails="correct or edges",
        says="is right",
    ),
    Mistake(
        "log(1 + e) of a tiny e",
        swap={CE: CE.replace("log1p(e)", "tl.log(1 + e)")},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "logarithms of sigmoids, -inf far from 0",
        swap={CE: "ce = -t * tl.log(tl.sigmoid(x)) - (1 - t) * tl.log(tl.sigmoid(-x))"},
        fails="correct or edges",
        says="0 · (-inf)",
    ),
    Mistake(
        "targets are taken to be 0 or 1",
        swap={CE: CE.replace("against", "tl.where(against > 0.5, 1.0, 0.0)")},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "lanes past the end count", swap={MASKED: "tl.sum(loss, axis=0)"}, fails="correct", says="is right"
    ),
    Mistake(
        "the loss is a sum",
        swap={"tl.sum(acc, axis=0) / count": "tl.sum(acc, axis=0)"},
        fails="correct",
        says="sum",
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
        "the modulator is kept",
        swap={SAVE: f"{SAVE}\n        ctx.power = torch.empty_like(logits)"},
        fails="correct",
        says="keeps",
    ),
    Mistake(
        "torch finds the mean",
        swap={"        return mean\n": "        return part.sum() / n\n"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "half done: the last kernel is missing",
        swap={},
        fails="correct",
        says="never written",
        undone=("backward_kernel",),
        so_far="sums of blocks ✓ · mean ✓ · not started: dlogits",
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
        so_far="sums of blocks ✓ · not started: mean, dlogits",
    ),
    Mistake(
        "an alpha of 1 weights nothing",
        swap={NUMBERS: NUMBERS.replace("alpha >= 0", "0 <= alpha < 1")},
        fails="correct",
        says="The result is ",
    ),
]
