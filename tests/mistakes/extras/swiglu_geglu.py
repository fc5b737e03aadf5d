"""Extra: what gated units get wrong, and what the grader must say about it."""

from tools.planted import Mistake

DGATE = "dy * u * (p + g * dp)"
DUP = "dy * (g * p)"
DY = "offs_m[:, None] * stride_dym + offs_n[None, :] * stride_dyn"
GELU_SLOPE = "dp = p * (1 - p) * (1.5957691 + 0.21406444 * g * g)"
READ_UP = (
    "stride_um + offs_n[None, :], mask=mask, other=0.0)\n    g, u = gate.to(tl.float32), up.to(tl.float32)"
)
SAVE = "ctx.save_for_backward(gate, up)"
SIGMOID = "        p = tl.sigmoid(g)\n"
WIDE = "    g, u = gate.to(tl.float32), up.to(tl.float32)\n    p, _"

# fmt: off
mistakes = [
    Mistake(
        "gate and up have changed places",
        {
            "            gate, up, y, n_rows, n_cols, gate.stride(0), up.stride(0)": (
                "            up, gate, y, n_rows, n_cols, up.stride(0), gate.stride(0)"
            )
        },
        "changed places",
    ),
    Mistake("geglu takes silu",
            {"return GatedUnit.apply(gate, up, True)": "return GatedUnit.apply(gate, up, False)"},
            "This is SwiGLU"),
    Mistake("up is left out", {"g * p * u, mask=mask": "g * p, mask=mask"}, "up is left out"),
    Mistake("the sigmoid overflows for large negative gates",
            {SIGMOID: "        p = tl.exp(g) / (1 + tl.exp(g))\n"}, "overflow", fails="edges"),
    Mistake("dgate lacks up", {DGATE: "dy * (p + g * dp)"}, "lacks up"),
    Mistake("dgate lacks the product rule's second term", {DGATE: "dy * u * p"}, "product rule"),
    Mistake("dgate takes the activation for its slope", {DGATE: "dy * u * (g * p)"}, "for its slope"),
    Mistake("the slope of gelu lacks the inner derivative", {GELU_SLOPE: "dp = p * (1 - p)"}, "chain rule"),
    Mistake("dup takes up", {DUP: "dy * u"}, "dup takes up"),
    Mistake("dy is left out", {DGATE: DGATE[5:], DUP: "g * p"}, "dy is left out"),
    Mistake("up is read with gate's row stride", {READ_UP: READ_UP.replace("stride_um", "stride_gm")},
            "stride"),
    Mistake("dy is taken to be contiguous", {DY: "offs_m[:, None] * n_cols + offs_n[None, :]"}, "stride",
            fails="edges"),
    Mistake("the sigmoid is computed in the dtype of gate", {WIDE: "    g, u = gate, up\n    p, _"},
            "takes no fp16", fails="correct or edges"),
    Mistake("the activation is kept as well",
            {SAVE: "ctx.save_for_backward(gate, up, y)",
             "gate, up = ctx.saved_tensors": "gate, up, y = ctx.saved_tensors"}, "keeps"),
    Mistake("the store of y has no mask", {"g * p * u, mask=mask)": "g * p * u)"}, "Unmasked store"),
    Mistake("dup overwrites dy", {"dup = torch.empty_like(dgate)": "dup = dy"}, "upstream gradient"),
]
