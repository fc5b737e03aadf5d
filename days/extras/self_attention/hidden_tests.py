"""Extra: an attention layer, two projections around attention, without a copy between its kernels."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.nn.functional import linear, scaled_dot_product_attention

from grader.challenge import Case, Challenge, Memory, between
from grader.challenge.formulas.draw_one_input import vector
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS


def inputs(case: Case, draw) -> tuple[Any, ...]:
    """x, w_qkv, b_qkv, w_out, b_out, num_heads and causal; a bias is None where `bias` does not name it.

    x lies as the case's layout says; all else is contiguous. Scores stay below 1 or so: the roundings of q
    and k, which no kernel is spared, move them less than what is gated.
    """
    e = case.h * case.d
    beside = "offset" if case.layout == "offset" else "contiguous"
    w_qkv, w_out = (draw(rows, e, layout=beside, values="normal") for rows in (3 * e, e))
    for w in (w_qkv, w_out):
        w *= 0.5 * e**-0.5
    b_qkv, b_out = (
        vector(case, draw, rows, "normal") if name in case.get("bias", "qkv out") else None
        for name, rows in (("qkv", 3 * e), ("out", e))
    )
    for bias in (b_qkv, b_out):
        if bias is not None:
            bias *= 0.5
    return draw(case.b, case.s, e), w_qkv, b_qkv, w_out, b_out, case.h, case.get("causal", False)


def reference(
    x: Tensor,
    w_qkv: Tensor,
    b_qkv: Tensor | None,
    w_out: Tensor,
    b_out: Tensor | None,
    num_heads: int,
    causal: bool,
) -> Tensor:
    """By torch's own attention, intermediates in x's dtype."""
    b, s, e = x.shape
    q, k, v = linear(x, w_qkv, b_qkv).view(b, s, 3, num_heads, e // num_heads).permute(2, 0, 3, 1, 4)
    context = scaled_dot_product_attention(q, k, v, is_causal=causal)
    return linear(context.transpose(1, 2).reshape(b, s, e), w_out, b_out)


def intermediates(x: Tensor, *others: Any) -> int:
    """Bytes of q, k, v and the context, and of the scores and weights that day 27 stores."""
    scores = x.shape[0] * others[4] * x.shape[1] ** 2
    return 4 * x.nbytes + scores * (4 + x.element_size())


CASES = [
    Case(b=1, s=16, h=1, d=16),
    Case(b=1, s=1, h=1, d=16),
    Case(b=0, s=5, h=2, d=16),
    Case(b=2, s=3, h=2, d=20),
    Case(b=1, s=5, h=3, d=17),
    Case(b=2, s=9, h=4, d=16, causal=True),
    Case(b=3, s=17, h=2, d=24, bias=""),
    Case(b=2, s=12, h=2, d=32, bias="out", causal=True),
    Case(b=2, s=12, h=2, d=32, bias="qkv"),
    Case(b=1, s=33, h=2, d=80, causal=True),
    Case(b=2, s=7, h=1, d=96),
    Case(b=1, s=10, h=1, d=128),
    Case(b=1, s=65, h=5, d=19, causal=True),
    Case(b=1, s=130, h=2, d=16, causal=True),
    Case(b=2, s=between(33, 47), h=4, d=16, dtype=HALF),
    Case(b=1, s=70, h=2, d=40, dtype=HALF, causal=True),
    Case(b=2, s=20, h=2, d=48, dtype=BRAIN),
    Case(b=2, s=48, h=2, d=48, dtype=BRAIN),
    Case(b=2, s=96, h=2, d=48, dtype=BRAIN),
    Case(b=2, s=20, h=3, d=16, layout="sliced"),
    Case(b=2, s=20, h=2, d=24, layout="padded", dtype=HALF, causal=True),
    Case(b=3, s=20, h=2, d=16, layout="expanded"),
    Case(b=2, s=20, h=3, d=16, layout="offset", dtype=HALF),
    Case(b=2, s=20, h=3, d=16, values="heavy", causal=True),
    Case(b=2, s=20, h=3, d=16, values="constant"),
    Case(b=2, s=20, h=3, d=16, values="nan", causal=True),
    Case(b=2, s=20, h=3, d=16, values="zeros"),
    Case(b=2, s=15, h=2, d=32, calls=2, causal=True),
    Case(b=1, s=20, h=2, d=16, bias="out", calls=2),
    Case(b=22_001, s=64, h=4, d=128, dtype=HALF, huge=True),
    Case(b=2, s=1100, h=3, d=16, layout="far", dtype=HALF, huge=True),
]

challenge = Challenge(
    entry="self_attention",
    inputs=inputs,
    reference=reference,
    suspects=SUSPECTS,
    shown=Case(b=2, s=9, h=4, d=16, causal=True),
    cases=CASES,
    # q, k or v written out once more would be a fifth of that.
    memory=Memory(Case(b=32, s=128, h=4, d=64), extra=intermediates),
)
