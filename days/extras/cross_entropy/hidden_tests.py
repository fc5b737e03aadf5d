"""Extra: cross-entropy with ignored rows and label smoothing, both passes at 0.55 of a plain copy."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from grader.challenge import Case, Challenge, Gradients, Piece, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, int, float]:
    """logits, target, ignore_index, label_smoothing.

    About `ignored` of the rows are ignored; with `lost` the logits of these are NaN. The first target is
    the last class. The first `blank` logits of every row are -inf, and none of them is a target.
    Rows from `low` on lie 120 below the others.
    """
    logits = draw(case.m, case.v)
    logits[case.get("low", case.m) :] -= 120
    target = draw.integers(case.m, low=0, high=case.v)
    target[:1] = case.v - 1
    ignore_index = case.get("ignore_index", -100)
    chosen = draw.integers(case.m, low=0, high=1000) < 1000 * case.get("ignored", 0.0)
    target[chosen] = ignore_index
    if "blank" in case:
        logits[:, : case.blank] = float("-inf")
        target.clamp_(min=case.blank)
    if "lost" in case:
        logits[target == ignore_index] = float("nan")
    return logits, target, ignore_index, case.get("smoothing", 0.0)


def reference(logits: Tensor, target: Tensor, ignore_index: int, label_smoothing: float) -> Tensor:
    """torch's, in fp32 or wider; what stands in ignored rows is kept out of it."""
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    wide = torch.where((target == ignore_index)[:, None], 0.0, wide)
    return cross_entropy(wide, target, ignore_index=ignore_index, label_smoothing=label_smoothing)


def kept(logits: Tensor, target: Tensor, *_) -> int:
    return logits.numel() * logits.element_size() + 2 * target.nbytes


wide = Case(m=4096, v=128256, dtype=BRAIN, gpu=True)

CASES = [
    Case(m=3, v=8),
    Case(m=40, v=1, values="zeros"),
    Case(m=0, v=8),
    Case(m=1, v=50),
    Case(m=5, v=7, ignored=0.4),
    Case(m=20, v=33, ignored=0.3),
    Case(m=7, v=40, ignored=1.0),
    Case(m=40, v=6, ignore_index=2),
    Case(m=20, v=33, smoothing=0.1),
    Case(m=20, v=33, smoothing=0.3, ignored=0.3),
    Case(m=5, v=127),
    Case(m=5, v=128, smoothing=0.2),
    Case(m=5, v=129),
    Case(m=4, v=1025, ignored=0.3),
    Case(m=3, v=4099, smoothing=0.1),
    Case(m=2, v=between(19_000, 21_000)),
    Case(m=2, v=40000, smoothing=0.1),
    Case(m=260, v=9, ignored=0.2),
    Case(m=290, v=9, low=145),
    Case(m=16, v=500, dtype=HALF, ignored=0.2),
    Case(m=48, v=496, ignored=0.2, dtype=HALF),
    Case(m=96, v=480, ignored=0.2, dtype=HALF),
    Case(m=16, v=500, dtype=BRAIN, ignored=0.2),
    Case(m=16, v=500, dtype=BRAIN, smoothing=0.1),
    Case(m=9, v=70, layout="sliced", ignored=0.2),
    Case(m=9, v=72, layout="padded", dtype=HALF),
    Case(m=9, v=70, layout="offset", dtype=BRAIN),
    Case(m=9, v=70, layout="expanded"),
    Case(m=9, v=70, ignored=0.4, lost=True, values="negative", demand="extreme_inputs"),
    Case(m=3, v=20011, values="rising"),
    Case(m=3, v=20011, smoothing=0.1, values="rising"),
    Case(m=9, v=300, smoothing=0.1, values="low"),
    Case(m=9, v=781, values="negative"),
    Case(m=9, v=300, values="heavy"),
    Case(m=9, v=300, values="constant"),
    Case(m=9, v=300, values="large", dtype=BRAIN),
    Case(m=9, v=300, values="some_minus_inf", demand="values"),
    Case(m=2, v=70_001, blank=33_000, values="negative", demand="extreme_inputs"),
    Case(m=9, v=300, values="inf"),
    Case(m=9, v=300, values="nan"),
    Case(m=9, v=70, ignored=0.2, calls=2),
    Case(m=17_001, v=131_075, dtype=BRAIN, huge=True),
    Case(m=70_001, v=1027, dtype=BRAIN, huge=True),
    Case(m=2100, v=70, layout="far", dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(m=4301, v=5, low=2150),
]

challenge = Challenge(
    entry="cross_entropy",
    inputs=inputs,
    reference=reference,
    no_host_reads=True,
    gradients=Gradients(of=(0,), saved=kept),
    suspects=SUSPECTS,
    shown=Case(m=20, v=33, ignored=0.3),
    pieces=(  # the results are the loss and the gradient of logits
        Piece("losses of rows", "row_loss_kernel", results=(0,)),
        Piece("what backward reads", "row_loss_kernel", results=(1,)),
        Piece("mean", "mean_kernel", results=(0,)),
        Piece("count", "mean_kernel", results=(1,)),
        Piece("dlogits", "backward_kernel", results=(1,)),
    ),
    cases=CASES,
    speed=Speed(wide, moved=lambda logits, *_: 3 * logits.nbytes, of_copy=0.55, part="both"),
)
