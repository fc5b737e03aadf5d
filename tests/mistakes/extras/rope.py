"""Extra: what a rotary embedding gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

BACK = "rotate(dy, *angles, backward=True)"
FIRST = "first = 2 * offs_p if INTERLEAVED else offs_p"
POSITION = "position = tl.load(positions_ptr + token)"
SAVE = "ctx.save_for_backward(cos, sin, positions)"
SECOND = "second = first + 1 if INTERLEAVED else first + n_pairs"
STORE_1 = "tl.store(y_ptrs + first[None, :], x1 * cos - x2 * sin, mask=mask)"
STORE_2 = "tl.store(y_ptrs + second[None, :], x2 * cos + x1 * sin, mask=mask)"
CALL = "        cos,\n        sin,\n        positions,\n        seq_len"
MASK = "mask = (offs_h < n_heads)[:, None] & pairs[None, :]"
TOKEN = "(token // seq_len) * stride_xb + (token % seq_len) * stride_xs"
X1 = "x1 = tl.load(x_ptrs + first[None, :] * stride_xd, mask=mask, other=0.0).to(tl.float32)"
X2 = "x2 = tl.load(x_ptrs + second[None, :] * stride_xd, mask=mask, other=0.0).to(tl.float32)"

# fmt: off
mistakes = [
    Mistake(
        "halves and neighbours have changed places",
        {
            FIRST: FIRST.replace(
                "2 * offs_p if INTERLEAVED else offs_p", "offs_p if INTERLEAVED else 2 * offs_p"
            ),
            SECOND: SECOND.replace(
                "first + 1 if INTERLEAVED else first + n_pairs",
                "first + n_pairs if INTERLEAVED else first + 1",
            ),
        },
        "taken for neighbours",
    ),
    Mistake("the second element is computed from the first one, already turned",
            {STORE_1: f"x1 = x1 * cos - x2 * sin\n    {STORE_1.replace('x1 * cos - x2 * sin', 'x1')}"},
            "already turned"),
    Mistake("the angle has the wrong sign", {"if BACKWARD:": "if not BACKWARD:"}, "wrong sign"),
    Mistake("the gradient is turned forwards once more", {"        sin = -sin": "        sin = sin"},
            "sign turned"),
    Mistake("cos and sin are passed the wrong way round",
            {CALL: CALL.replace("cos", "x").replace("sin", "cos").replace("x,", "sin,", 1)},
            "changed places"),
    Mistake("positions are ignored",
            {POSITION: "position = token % seq_len + 0 * tl.load(positions_ptr + token)"}, "osition"),
    Mistake("every sequence takes the positions of the first",
            {POSITION: POSITION.replace("token)", "token % seq_len)")}, "positions of the first one"),
    Mistake("the heads are taken to lie side by side",
            {"offs_h[:, None] * stride_xh": "offs_h[:, None] * (2 * n_pairs)"}, "stride", fails="edges"),
    Mistake("the tokens are taken to lie side by side", {TOKEN: "token * n_heads * 2 * n_pairs"},
            "past the end of", fails="edges"),
    Mistake("rows of cos are taken to be as long as a head",
            {"cos_ptr + position * n_pairs": "cos_ptr + position * 2 * n_pairs"},
            ("is right", "past the end of")),
    Mistake("lanes past the last pair are read and written",
            {MASK: MASK.replace("pairs[None, :]", "(offs_p >= 0)[None, :]")}, "past"),
    Mistake("q and k are kept for the backward pass",
            {SAVE: SAVE.replace("positions)", "positions, q, k)"),
             "angles = (*ctx.saved_tensors, ctx": "angles = (*ctx.saved_tensors[:3], ctx"}, "keeps"),
    Mistake("the rotation is in the dtype of x",
            {X1: f"{X1[: -len('.to(tl.float32)')]}\n    cos, sin = cos.to(x1.dtype), sin.to(x1.dtype)",
             X2: X2[: -len(".to(tl.float32)")]}, "precision", fails="correct or edges"),
    Mistake("the gradient of an output that nobody used is turned as well",
            {f"None if dy is None else {BACK}": BACK}, "'NoneType' object has no attribute 'shape'",
            fails="edges"),
    Mistake(
        "half done: q and k are turned, and the launcher is not written",
        {"sin = -sin": "pass"},
        "never written",
        undone=("rotate",),
        so_far="reads of x ✓ · stores of y ✓ · bounds ✓ · forward ✓ · backward ✗ · not started: launcher",
    ),
    Mistake(
        "half done: the second element of each pair is not stored",
        {STORE_2: "# TODO 4: read both, turn them in fp32, and write each to its place. y is contiguous."},
        "Still in the file is “TODO 4: ",
        so_far="reads of x ✓ (no line under TODO 4) · stores of y ✗ · launcher ✓ · not judged: bounds, "
        "forward, backward",
    ),
    Mistake("the batch is left out of the offset", {TOKEN: "(token % seq_len) * stride_xs"}, "is right"),
    Mistake(
        "y is stored with the strides of x",
        {
            "y_ptrs = y_ptr + (token * n_heads + offs_h[:, None]) * (2 * n_pairs)": (
                "y_ptrs = y_ptr + token * stride_xs + offs_h[:, None] * stride_xh"
            )
        },
        "never written",
        fails="edges",
    ),
    Mistake(
        "64 heads a program at most, and one program for all",
        {
            "min(triton.next_power_of_2(n_heads), max(2048 // BLOCK_P, 1))": (
                "min(triton.next_power_of_2(n_heads), 64)"
            ),
            "(batch * seq_len, triton.cdiv(n_heads, BLOCK_H))": "(batch * seq_len, 1)",
        },
        "never written",
    ),
]
