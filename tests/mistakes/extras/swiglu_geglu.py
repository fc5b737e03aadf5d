"""Extra: what gated units get wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

DGATE = "dy * u * (p + g * dp)"
DUP = "dy * (g * p)"
DY = "offs_m[:, None] * stride_dym + offs_n[None, :] * stride_dyn"
GELU_SLOPE = "dp = p * (1 - p) * (1.5957691 + 0.21406444 * g * g)"
READ_UP = (
    "stride_um + offs_n[None, :], mask=mask, other=0.0)\n    g, u = gate.to(tl.float32), up.to(tl.float32)"
)
RETURN = "return dgate, dup, None"
SAVE = "ctx.save_for_backward(gate, up)"
SIGMOID = "        p = tl.sigmoid(g)\n"
WIDE = "    g, u = gate.to(tl.float32), up.to(tl.float32)\n    p, _"

mistakes = [
    Mistake(
        "gate and up have changed places",
        swap={
            "            gate, up, y, n_rows, n_cols, gate.stride(0), up.stride(0)": (
                "            up, gate, y, n_rows, n_cols, up.stride(0), gate.stride(0)"
            )
        },
        fails="correct",
        says="changed places",
    ),
    Mistake(
        "geglu takes silu",
        swap={"return GatedUnit.apply(gate, up, True)": "return GatedUnit.apply(gate, up, False)"},
        fails="correct",
        says="This is SwiGLU",
    ),
    Mistake(
        "up is left out",
        swap={"g * p * u, mask=mask": "g * p, mask=mask"},
        fails="correct",
        says="up is left out",
    ),
    Mistake(
        "the sigmoid overflows for large negative gates",
        swap={SIGMOID: "        p = tl.exp(g) / (1 + tl.exp(g))\n"},
        fails="edges",
        says="overflow",
    ),
    Mistake("dgate lacks up", swap={DGATE: "dy * (p + g * dp)"}, fails="correct", says="lacks up"),
    Mistake(
        "dgate lacks the product rule's second term",
        swap={DGATE: "dy * u * p"},
        fails="correct",
        says="product rule",
    ),
    Mistake(
        "dgate takes the activation for its slope",
        swap={DGATE: "dy * u * (g * p)"},
        fails="correct",
        says="for its slope",
    ),
    Mistake(
        "the slope of gelu lacks the inner derivative",
        swap={GELU_SLOPE: "dp = p * (1 - p)"},
        fails="correct",
        says="chain rule",
    ),
    Mistake("dup takes up", swap={DUP: "dy * u"}, fails="correct", says="dup takes up"),
    Mistake(
        "the gradients have changed places",
        swap={RETURN: "return dup, dgate, None"},
        fails="correct",
        says="changed places",
    ),
    Mistake("dy is left out", swap={DGATE: DGATE[5:], DUP: "g * p"}, fails="correct", says="dy is left out"),
    Mistake(
        "up is read with gate's row stride",
        swap={READ_UP: READ_UP.replace("stride_um", "stride_gm")},
        fails="correct",
        says="stride",
    ),
    Mistake(
        "dy is taken to be contiguous",
        swap={DY: "offs_m[:, None] * n_cols + offs_n[None, :]"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "the columns of dy are taken to lie side by side",
        swap={DY: DY.replace(" * stride_dyn", "")},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "the sigmoid is computed in the dtype of gate",
        swap={WIDE: "    g, u = gate, up\n    p, _"},
        fails="correct or edges",
        says="takes no fp16",
    ),
    Mistake(
        "the activation is kept as well",
        swap={
            SAVE: "ctx.save_for_backward(gate, up, y)",
            "gate, up = ctx.saved_tensors": "gate, up, y = ctx.saved_tensors",
        },
        fails="correct",
        says="keeps",
    ),
    Mistake(
        "the store of y has no mask",
        swap={"g * p * u, mask=mask)": "g * p * u)"},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake(
        "torch multiplies the gradient of up",
        swap={RETURN: "return dgate, dup * 1, None"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "dup overwrites dy",
        swap={"dup = torch.empty_like(dgate)": "dup = dy"},
        fails="correct",
        says="upstream gradient",
    ),
]
