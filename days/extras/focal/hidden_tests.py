"""Extra: the focal loss of logits, both passes together at 0.5 of a plain copy."""

from __future__ import annotations

from math import prod

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Gradients, Piece, Speed, between
from grader.challenge.formulas.draw_one_input import shape_of
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS, focal

SIDES = ("a", "b", "m", "n")


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, float, float]:
    """logits, target, alpha and gamma; targets are yes or no unless `soft`.

    Logits are `scale` times as far from 0; with `right` the model is right about each, and so sure at least.
    """
    shape = shape_of(case, *SIDES)
    logits, target = draw(*shape), draw(*shape, values="normal").sigmoid_()
    if "soft" not in case:
        target.copy_(target > 0.5)
    logits *= case.get("scale", 1.0)
    if "right" in case:
        sure = logits.abs() + case.right
        logits.copy_(torch.where(target > 0.5, sure, -sure))
    return logits, target, case.get("alpha", 0.25), case.get("gamma", 2.0)


def reference(logits: Tensor, target: Tensor, alpha: float, gamma: float) -> Tensor:
    """The mean in fp32 or wider."""
    wide = torch.promote_types(logits.dtype, torch.float32)
    return focal(logits.to(wide), target.to(wide), alpha, gamma).mean()


def kept(logits: Tensor, target: Tensor, *_) -> int:
    return logits.nbytes + target.nbytes


wide = Case(m=8192, n=8192, gpu=True)

CASES = [
    Case(m=3, n=8),
    Case(n=1),
    Case(),
    Case(m=0, n=8),
    Case(n=33, soft=True),
    Case(m=20, n=33),
    Case(m=20, n=33, alpha=-1.0),
    Case(m=20, n=33, alpha=0.0),
    Case(m=20, n=33, alpha=0.9),
    Case(m=20, n=33, alpha=1.0),
    Case(m=20, n=33, gamma=0.0),
    Case(m=20, n=33, gamma=0.0, soft=True),
    Case(m=20, n=33, gamma=0.5),
    Case(m=20, n=33, gamma=1.0, soft=True),
    Case(m=20, n=33, gamma=3.5, soft=True),
    Case(b=3, m=4, n=50, gamma=5.0),
    Case(a=2, b=3, m=4, n=5),
    Case(n=2047),
    Case(n=2048),
    Case(n=1536),
    Case(n=1056),
    Case(n=2049, soft=True),
    Case(n=between(19_000, 21_000)),
    Case(m=9, n=60, scale=6.0),
    Case(m=9, n=60, scale=60.0, gamma=0.5),  # 0 ** (gamma - 1) is Inf
    Case(m=9, n=60, scale=60.0, gamma=0.0),
    Case(m=9, n=60, right=4.0),
    Case(m=9, n=60, right=16.0, gamma=1.0),  # log(1 + e) would say 0
    Case(m=9, n=60, right=16.0, gamma=0.25),
    Case(m=16, n=50, dtype=HALF),
    Case(m=16, n=50, dtype=BRAIN, soft=True),
    Case(m=16, n=50, dtype=BRAIN, alpha=-1.0, gamma=0.5),
    Case(m=9, n=70, layout="offset"),
    Case(m=9, n=70, layout="offset", dtype=HALF, soft=True),
    Case(m=9, n=70, layout="offset", dtype=BRAIN),
    Case(m=9, n=70, values="large"),
    Case(m=9, n=70, values="large", gamma=0.5, soft=True),
    Case(m=9, n=70, values="large", gamma=0.0, dtype=BRAIN),
    Case(m=9, n=70, values="zeros"),
    Case(m=9, n=70, values="heavy"),
    Case(m=9, n=70, values="nan"),
    Case(m=40, n=60, calls=2),
    Case(m=140_001, n=16_379, dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(m=4301, n=5),
    Case(m=601, n=501),
]

challenge = Challenge(
    entry="sigmoid_focal_loss",
    inputs=inputs,
    reference=reference,
    reduces=lambda case: prod(shape_of(case, *SIDES)),
    no_host_reads=True,
    gradients=Gradients(of=(0,), saved=kept),
    suspects=SUSPECTS,
    shown=Case(m=20, n=33),
    pieces=(  # the results are the mean and the gradient of logits
        Piece("sums of blocks", "loss_kernel", results=(0,)),
        Piece("mean", "mean_kernel", results=(0,)),
        Piece("dlogits", "backward_kernel", results=(1,)),
    ),
    cases=CASES,
    speed=Speed(wide, moved=lambda x, *_: 5 * x.nbytes, of_copy=0.50, part="both"),
)
