"""Extra: cross-entropy of a product whose logits are never whole in memory; both passes at 0.75 of torch."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from grader.challenge import Case, Challenge, Claim, Gradients, Memory, Speed, between
from grader.challenge.formulas.draw_one_input import tensor
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, Tensor, int]:
    """x, weight, target, ignore_index. About `ignored` of the rows are ignored; the first target is the last
    class.

    Where `coarse`, logits are exact in 16 bits: multiples of 1/64, so that a loss does not depend on whether
    they were rounded. `rising` logits have their maximum in the last columns; `first` is each weight of the
    first class, whose logit lies that far above all others;
    `below` so many times as large, x makes all logits lie far below 0.
    """
    x, weight = draw(case.t, case.h), tensor(case, draw, "w", case.v, case.h)
    if "coarse" in case:
        for operand in (x, weight):
            operand.copy_(draw.integers(*operand.shape, low=-2, high=3)).mul_(0.125)
    else:
        weight *= case.h**-0.5
    if "rising" in case:
        x.abs_()
        weight.copy_(weight.sort(dim=0).values)
    if "first" in case:
        x.abs_()
        weight[0] = case.first
    if "below" in case:
        x.abs_().mul_(case.below)
        weight.abs_().neg_()
    target = draw.integers(case.t, low=0, high=case.v)
    target[:1] = case.v - 1
    ignore_index = case.get("ignore_index", -100)
    target[draw.integers(case.t, low=0, high=1000) < 1000 * case.get("ignored", 0.0)] = ignore_index
    return x, weight, target, ignore_index


def reference(x: Tensor, weight: Tensor, target: Tensor, ignore_index: int) -> Tensor:
    """torch's, in fp32 or wider from the logits on; ignored rows are kept out of it."""
    logits = x @ weight.T
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    wide = torch.where((target == ignore_index)[:, None], 0.0, wide)
    return cross_entropy(wide, target, ignore_index=ignore_index)


def plain(x: Tensor, weight: Tensor, target: Tensor, ignore_index: int) -> Tensor:
    """What someone with torch alone would call."""
    return cross_entropy((x @ weight.T).float(), target, ignore_index=ignore_index)


def kept(x: Tensor, weight: Tensor, target: Tensor, _) -> int:
    return (x.numel() + weight.numel()) * x.element_size() + 2 * target.nbytes + 64


def eighth(x: Tensor, weight: Tensor, *_) -> int:
    return len(x) * len(weight) * x.element_size() // 8 + 4096  # and what is counted in rows


wide = Case(t=4096, h=2048, v=128256, dtype=BRAIN, gpu=True)

CASES = [
    Case(t=3, h=8, v=7),
    Case(t=1, h=5, v=50),
    Case(t=20, h=16, v=1, values="zeros"),
    Case(t=0, h=8, v=9),
    Case(t=9, h=3, v=33, ignored=0.4),
    Case(t=48, h=3, v=48, ignored=0.4),
    Case(t=96, h=3, v=160, ignored=0.4),
    Case(t=7, h=20, v=65, ignored=1.0),
    Case(t=30, h=8, v=6, ignore_index=2),
    Case(t=6, h=33, v=129, ignored=0.3),
    Case(t=between(66, 79), h=16, v=between(34, 47)),
    Case(t=5, h=17, v=500, ignored=0.2),
    Case(t=4, h=16, v=1600),
    Case(t=1, h=4, v=50_000),
    Case(t=3000, h=64, v=500, ignored=0.1, gpu=True),
    Case(t=16, h=24, v=130, dtype=HALF, coarse=True, ignored=0.2),
    Case(t=16, h=24, v=130, dtype=BRAIN, coarse=True, ignored=0.2),
    Case(t=5, h=30, v=500, dtype=BRAIN, coarse=True),
    Case(t=5, h=30, v=3000, dtype=BRAIN, coarse=True),
    Case(t=5, h=16, v=300, rising=True),
    # Coarse: of numbers near 140 two sums of the same products differ by 1e-5 otherwise.
    Case(t=5, h=16, v=300, first=60.0, coarse=True),
    Case(t=5, h=16, v=300, below=1024.0, coarse=True),
    Case(t=9, h=24, v=70, layout="offset", ignored=0.2),
    Case(t=9, h=24, v=70, layout="offset", dtype=BRAIN, coarse=True),
    Case(t=9, h=16, v=130, values="heavy", w_values="normal"),
    Case(t=9, h=16, v=130, values="zeros", w_values="normal"),
    Case(t=9, h=16, v=130, values="nan", w_values="normal"),
    Case(t=9, h=24, v=130, ignored=0.2, calls=2),
    Case(t=5, h=16, v=130, alone=0),
    Case(t=5, h=16, v=130, alone=1),
    Case(t=200_001, h=16, v=262_144, dtype=BRAIN, huge=True),
]

# Their shapes were fixed before anything was measured; with few tokens a chunk is a narrow product.
CLAIMED = [
    Case(t=t, h=h, v=v, dtype=BRAIN, gpu=True)
    for t, h, v in ((1024, 2048, 32000), (8192, 2048, 32000), (1024, 4096, 128256), (4096, 2048, 128256))
]
SAYS = "a loss whose logits are never whole takes no more time than torch's"

challenge = Challenge(
    entry="linear_cross_entropy",
    inputs=inputs,
    reference=reference,
    no_host_reads=True,
    gradients=Gradients(of=(0, 1), saved=kept, if_asked=True),
    allow=("mm",),
    suspects=SUSPECTS,
    cases=CASES,
    speed=Speed(
        wide,
        moved=lambda x, weight, *_: 2 * (x.nbytes + weight.nbytes),
        flops=lambda x, weight, *_: 8 * x.numel() * len(weight),
        of_torch=0.75,
        torch=plain,
        part="both",
    ),
    claims=[Claim(SAYS, CLAIMED, of_torch=1.0, backend=b, part="both") for b in ("eager", "compile")],
    memory=Memory(Case(t=128, h=16, v=12288), extra=eighth, part="both"),
)
