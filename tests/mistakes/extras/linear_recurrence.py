"""Extra: what goes wrong along a sequence, and what the grader must say about it."""

from tools.planted import Mistake

A_LATER = "a = tl.load(a_ptrs + (steps + 1) * stride_at, mask=later, other=0.0)"
B_PTRS = "b_ptrs = b_ptr + batch * stride_bb + offs_d[None, :] * stride_bd"
COMBINE = "return a_left * a_right, a_right * b_left + b_right"
FROM_LAST = "b += tl.where(offs_t[:, None] == 0, a * carry[None, :], 0.0)"
FROM_LATER = "db += tl.where(offs_t[:, None] == BLOCK_T - 1, a * carry[None, :], 0.0)"
LOAD_B = "b = tl.load(b_ptrs + steps * stride_bt, mask=mask, other=0.0).to(tl.float32)"
MASK = "mask = (steps < n_steps) & (offs_d < n_channels)[None, :]"
SAVE = "ctx.save_for_backward(a, h)"
SCAN = "_, h = tl.associative_scan((a, b), 0, combine)"

# fmt: off
mistakes = [
    Mistake("the two steps change places", {COMBINE: "return a_left * a_right, a_left * b_right + b_left"},
            "is right"),
    Mistake("every chunk begins with 0", {FROM_LAST: "b += 0.0 * carry[None, :]"}, "begins with h = 0"),
    Mistake("a cumulative product, and a division by it",
            {SCAN: "decay = tl.cumprod(a, axis=0)\n        h = decay * tl.cumsum(b / decay, axis=0)"},
            "must not be 0", fails="correct or edges"),
    Mistake("the scan is in 16 bits",
            {SCAN: "narrow = h_ptr.dtype.element_ty\n"
             "        _, h = tl.associative_scan((a.to(narrow), b.to(narrow)), 0, combine)\n"
             "        h = h.to(tl.float32)"}, "too low a precision", fails="correct or edges"),
    Mistake("no mask of the steps", {MASK: f"{MASK[:7]}(steps >= 0) & {MASK[27:]}"}, "mask"),
    Mistake("b is read with the strides of a",
            {B_PTRS: "b_ptrs = b_ptr + batch * stride_ab + offs_d[None, :] * stride_ad",
             LOAD_B: LOAD_B.replace("stride_bt", "stride_at")}, "stride", fails="correct or edges"),
    Mistake("the gradient comes back through its own step's a",
            {A_LATER: "a = tl.load(a_ptrs + steps * stride_at, mask=mask, other=0.0)"}, "off by one step"),
    Mistake("the scan of the gradients runs forwards", {"combine, reverse=True)": "combine)"},
            "run forwards"),
    Mistake("the gradients of every chunk begin at 0", {FROM_LATER: "db += 0.0 * carry[None, :]"},
            "of every chunk"),
    Mistake("b is kept as well", {SAVE: "ctx.save_for_backward(a, h)\n        ctx.b = b"}, "keeps"),
]
