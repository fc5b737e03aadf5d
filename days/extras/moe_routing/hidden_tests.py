"""Extra: k experts for each token, and all entries sorted by expert, at 0.075 of a plain copy."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Own, Piece, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF, SINGLE

from .suspects import SUSPECTS, Routes, routed

LOWEST = Own("lowest")  # far below what stands for minus infinity in many a kernel, and finite


def inputs(case: Case, draw) -> tuple[Tensor, int]:
    """router and k. Where `lowest`, logits are between -3.36e38 and -3.1e38: finite, in bf16, too."""
    if case.values == LOWEST:
        router = draw(case.t, case.e, values="normal")
        router.abs_().clamp_(max=5.0).mul_(0.05e38).sub_(3.36e38)
    else:
        router = draw(case.t, case.e)
    return router, case.k


def eager(router: Tensor, k: int) -> Routes:
    """As one writes it with torch, which calls no tie."""
    weights, experts = torch.softmax(router, dim=1).topk(k, dim=1)
    flat = experts.flatten()
    weights = weights / weights.sum(dim=1, keepdim=True)
    counts = flat.bincount(minlength=router.shape[1])
    return weights, experts.int(), flat.argsort(stable=True).int(), counts.int()


def moved(router: Tensor, k: int) -> int:
    """The logits are read; weights, experts and order are written, 4 bytes each, and counts."""
    return router.nbytes + 12 * len(router) * k + 4 * router.shape[1]


CASES = [
    Case(t=4, e=8, k=2),
    Case(t=1, e=1, k=1),
    Case(t=0, e=8, k=2),
    Case(t=5, e=1, k=1),
    Case(t=7, e=5, k=5),
    Case(t=9, e=3, k=1),
    Case(t=1, e=64, k=8),
    Case(t=between(33, 47), e=60, k=6),
    Case(t=63, e=16, k=4),
    Case(t=64, e=16, k=4),
    Case(t=65, e=16, k=4),
    Case(t=200, e=60, k=6),
    Case(t=100, e=7, k=3),
    Case(t=300, e=8, k=2),
    Case(t=130, e=33, k=7),
    Case(t=50, e=255, k=8),
    Case(t=300, e=256, k=8),  # so many that the last expert is among theirs
    Case(t=90, e=129, k=5),
    # Only half of the experts can have an entry.
    Case(t=8, e=128, k=8),
    # Programs enough for prefix sums that need a second step, and few for who has one for each token.
    Case(t=1100, e=4, k=1),
    Case(t=300, e=8, k=2, dtype=HALF),
    Case(t=300, e=60, k=6, dtype=HALF),
    Case(t=300, e=60, k=6, dtype=BRAIN),
    Case(t=150, e=60, k=6, layout="offset"),
    Case(t=150, e=60, k=6, layout="offset", dtype=HALF),
    Case(t=150, e=61, k=3, values="integers"),
    Case(t=150, e=61, k=3, values="ties"),
    Case(t=300, e=12, k=4, values="constant"),
    Case(t=150, e=60, k=6, values="zeros"),
    Case(t=150, e=60, k=6, values="rising"),
    Case(t=150, e=60, k=6, values="spike"),
    Case(t=150, e=60, k=6, values="negative"),
    Case(t=150, e=60, k=6, values="large"),
    Case(t=150, e=60, k=6, values="heavy", dtype=BRAIN),
    Case(t=150, e=60, k=6, values="signed_zeros", demand="extreme_inputs"),
    Case(t=1, e=7, k=2, values=LOWEST, demand="extreme_inputs"),
    Case(t=150, e=60, k=6, values=LOWEST, demand="extreme_inputs"),
    Case(t=150, e=60, k=6, values=LOWEST, dtype=BRAIN, demand="extreme_inputs"),
    Case(t=300, e=12, k=3, calls=2),
    Case(t=150, e=60, k=6, calls=2, dtype=HALF),
    Case(t=65_537, e=64, k=6, gpu=True),
    Case(t=80_001, e=2, k=1, gpu=True),  # more entries of one expert than int16 counts
    Case(t=40_001, e=256, k=8, dtype=BRAIN, gpu=True),
    Case(t=8_400_001, e=256, k=8, dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(t=4301, e=4, k=1),
]

challenge = Challenge(
    entry="moe_route",
    inputs=inputs,
    reference=routed,
    returns=(SINGLE, torch.int32, torch.int32, torch.int32),
    no_host_reads=True,
    suspects=SUSPECTS,
    shown=Case(t=4, e=8, k=2),
    pieces=(
        Piece("experts", "choose_kernel", results=(1,)),
        Piece("weights", "choose_kernel", results=(0,)),
        Piece("ranks", "choose_kernel", results=(2, 3)),
        Piece("sums over programs", "scan_kernel", results=(2, 3)),
        Piece("order", "place_kernel", results=(2,)),
    ),
    cases=CASES,
    # Held against a copy: 256 logits for 24 numbers, and to read them once is what pays.
    speed=Speed(Case(t=262_144, e=256, k=8, gpu=True), moved=moved, torch=eager, of_copy=0.075),
)
