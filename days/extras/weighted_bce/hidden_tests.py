"""Extra: weighted binary cross-entropy of logits, both passes together at 0.7 of a plain copy."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits as of_torch

from grader.challenge import Case, Challenge, Gradients, Piece, Speed, between
from grader.challenge.formulas.draw_one_input import vector
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS, costs


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """logits, target, weight and pos_weight; targets are yes or no where they are `hard`.

    There is a weight where the case has `weight`, and a pos_weight where it has `pos`. Logits are `scale`
    times as far from 0; with `right` the model is right about each, and so sure at least.
    """
    logits = draw(case.m, case.n)
    target = draw(case.m, case.n, values="normal").sigmoid_()
    if "hard" in case or "right" in case:
        target.copy_(target > 0.5)
    logits *= case.get("scale", 1.0)
    if "right" in case:
        sure = logits.abs() + case.right
        logits.copy_(torch.where(target > 0.5, sure, -sure))
    weight = draw(case.m, case.n, values="normal").abs_() if "weight" in case else None
    pos_weight = vector(case, draw, case.n, "normal").exp_() if "pos" in case else None
    return logits, target, weight, pos_weight


def reference(logits: Tensor, target: Tensor, weight: Tensor | None, pos_weight: Tensor | None) -> Tensor:
    """In fp32 or wider. torch's own formula takes a difference, and has no digits where the loss is small."""
    wide = torch.promote_types(logits.dtype, torch.float32)
    w, pos = (1.0 if one is None else one.to(wide) for one in (weight, pos_weight))
    return costs(logits.to(wide), target.to(wide), w, pos).mean()


def plain(logits: Tensor, target: Tensor, weight: Tensor | None, pos_weight: Tensor | None) -> Tensor:
    """What someone with torch alone would call."""
    return of_torch(logits, target, weight=weight, pos_weight=pos_weight)


def kept(*tensors: Tensor | None) -> int:
    return sum(one.numel() * one.element_size() for one in tensors if one is not None)


wide = Case(m=8192, n=8192, pos=True, gpu=True)

CASES = [
    Case(m=3, n=8),
    Case(m=1, n=1),
    Case(m=0, n=8),
    Case(m=3, n=0),
    Case(m=70, n=1, pos=True),
    Case(m=1, n=50, pos=True),
    Case(m=20, n=33, hard=True),
    Case(m=between(17, 31), n=between(33, 47), weight=True),
    Case(m=48, n=48, weight=True),
    Case(m=96, n=96, weight=True),
    Case(m=20, n=33, pos=True),
    Case(m=20, n=33, weight=True, pos=True, hard=True),
    Case(m=33, n=20, weight=True, pos=True),
    Case(m=5, n=127, pos=True),
    Case(m=5, n=128, pos=True),
    Case(m=5, n=129, pos=True, weight=True),
    Case(m=5, n=1025, pos=True),
    Case(m=7, n=1023),
    Case(m=3, n=4099, pos=True),
    Case(m=1030, n=5),
    Case(m=9, n=60, scale=6.0),
    Case(m=9, n=60, right=16.0),  # losses of 1e-7 and less: log(1 + e) would say 0
    Case(m=16, n=50, dtype=HALF, pos=True),
    Case(m=16, n=50, dtype=BRAIN, pos=True, weight=True),
    Case(m=16, n=50, dtype=BRAIN, hard=True),
    Case(m=9, n=70, layout="offset", pos=True),
    Case(m=9, n=70, layout="offset", dtype=HALF, weight=True),
    Case(m=9, n=70, layout="offset", dtype=BRAIN),
    Case(m=9, n=70, values="large", pos=True, hard=True),
    Case(m=9, n=70, values="large", dtype=BRAIN, weight=True),
    Case(m=9, n=70, values="negative"),
    Case(m=9, n=70, values="heavy", pos=True),
    Case(m=9, n=70, values="zeros", weight=True),
    Case(m=9, n=70, values="nan", pos=True),
    Case(m=40, n=60, pos=True, calls=2),
    Case(m=140_001, n=16_379, dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(m=4301, n=5),
    Case(m=601, n=501),
]

challenge = Challenge(
    entry="weighted_bce",
    inputs=inputs,
    reference=reference,
    reduces=lambda case: case.m * case.n,
    no_host_reads=True,
    gradients=Gradients(of=(0,), saved=kept),
    suspects=SUSPECTS,
    shown=Case(m=20, n=33, pos=True),
    pieces=(  # the results are the mean and the gradient of logits
        Piece("sums of tiles", "loss_kernel", results=(0,)),
        Piece("mean", "mean_kernel", results=(0,)),
        Piece("dlogits", "backward_kernel", results=(1,)),
    ),
    cases=CASES,
    speed=Speed(wide, moved=lambda x, *_: 5 * x.nbytes, torch=plain, of_copy=0.70, part="both"),
)
