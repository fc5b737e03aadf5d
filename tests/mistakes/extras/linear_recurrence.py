"""Extra: what goes wrong along a sequence, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

A_LATER = "a = tl.load(a_ptrs + (steps + 1) * stride_at, mask=later, other=0.0)"
B_PTRS = "b_ptrs = b_ptr + batch * stride_bb + offs_d[None, :] * stride_bd"
CARRY = "carry = tl.sum(tl.where(offs_t[:, None] == BLOCK_T - 1, h, 0.0), axis=0)"
COMBINE = "return a_left * a_right, a_right * b_left + b_right"
FROM_LAST = "b += tl.where(offs_t[:, None] == 0, a * carry[None, :], 0.0)"
FROM_LATER = "db += tl.where(offs_t[:, None] == BLOCK_T - 1, a * carry[None, :], 0.0)"
H_EARLIER = "h = tl.load(h_ptr + place + (steps - 1) * n_channels, mask=earlier, other=0.0)"
LOAD_B = "b = tl.load(b_ptrs + steps * stride_bt, mask=mask, other=0.0).to(tl.float32)"
MASK = "mask = (steps < n_steps) & (offs_d < n_channels)[None, :]"
SAVE = "ctx.save_for_backward(a, h)"
SCAN = "_, h = tl.associative_scan((a, b), 0, combine)"
STORE_DA = "tl.store(da_ptr + place + steps * n_channels, db * h, mask=mask)"

mistakes = [
    Mistake(
        "the two steps change places",
        swap={COMBINE: "return a_left * a_right, a_left * b_right + b_left"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "b is not multiplied by the later a",
        swap={COMBINE: "return a_left * a_right, b_left + b_right"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "every chunk begins with 0",
        swap={FROM_LAST: "b += 0.0 * carry[None, :]"},
        fails="correct",
        says="begins with h = 0",
    ),
    Mistake(
        "the first h of a chunk is carried on",
        swap={CARRY: CARRY.replace("BLOCK_T - 1", "0")},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the carry goes into every step of the chunk",
        swap={FROM_LAST: "b += a * carry[None, :]"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "a cumulative product, and a division by it",
        swap={SCAN: "decay = tl.cumprod(a, axis=0)\n        h = decay * tl.cumsum(b / decay, axis=0)"},
        fails="correct or edges",
        says="must not be 0",
    ),
    Mistake(
        "the scan is in 16 bits",
        swap={
            SCAN: "narrow = h_ptr.dtype.element_ty\n"
            "        _, h = tl.associative_scan((a.to(narrow), b.to(narrow)), 0, combine)\n"
            "        h = h.to(tl.float32)"
        },
        fails="correct or edges",
        says="16-bit",
    ),
    Mistake(
        "no mask of the steps",
        swap={MASK: f"{MASK[:7]}(steps >= 0) & {MASK[27:]}"},
        fails="correct",
        says="mask",
    ),
    Mistake(
        "no mask of the channels",
        swap={MASK: "mask = (steps < n_steps) & (offs_d >= 0)[None, :]"},
        fails="correct",
        says="mask",
    ),
    Mistake(
        "b is read with the strides of a",
        swap={
            B_PTRS: "b_ptrs = b_ptr + batch * stride_ab + offs_d[None, :] * stride_ad",
            LOAD_B: LOAD_B.replace("stride_bt", "stride_at"),
        },
        fails="correct or edges",
        says="stride",
    ),
    Mistake(
        "the gradient comes back through its own step's a",
        swap={A_LATER: "a = tl.load(a_ptrs + steps * stride_at, mask=mask, other=0.0)"},
        fails="correct",
        says="off by one step",
    ),
    Mistake(
        "da takes its own step's h",
        swap={H_EARLIER: "h = tl.load(h_ptr + place + steps * n_channels, mask=earlier, other=0.0)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the scan of the gradients runs forwards",
        swap={"combine, reverse=True)": "combine)"},
        fails="correct",
        says="run forwards",
    ),
    Mistake(
        "the gradients of every chunk begin at 0",
        swap={FROM_LATER: "db += 0.0 * carry[None, :]"},
        fails="correct",
        says="of every chunk",
    ),
    Mistake(
        "the chunks of the way back run forwards",
        swap={"((n_chunks - 1 - chunk) * BLOCK_T + offs_t)": "(chunk * BLOCK_T + offs_t)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "da is multiplied by a",
        swap={STORE_DA: STORE_DA.replace("db * h", "db * h * a")},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "b is kept as well",
        swap={SAVE: "ctx.save_for_backward(a, h)\n        ctx.b = b"},
        fails="correct",
        says="keeps",
    ),
    Mistake(
        "a and b are copied first",
        swap={"    return Scan.apply(a, b)": "    return Scan.apply(a.contiguous(), b.contiguous())"},
        fails="honest",
        says="torch copied",
    ),
]
