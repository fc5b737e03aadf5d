"""Extra find_the_bug_cross_entropy: a loss in one pass with four bugs, all of them right for one block."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from grader.challenge import Bug, Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF


def inputs(case: Case, draw) -> tuple[torch.Tensor, torch.Tensor, int]:
    """logits, moved by `shift`, their first half by `lift`; targets from `first` on, before `end`.

    ignore_index is `ignore`. Rows whose number `ignored` divides are ignored; with `lost` they hold NaN.
    """
    logits = draw(case.m, case.v)
    if "shift" in case:
        logits += case.shift
    if "lift" in case:
        logits[:, : case.v // 2] += case.lift
    low, high = case.get("first", 0), case.get("end", case.v)
    drawn = [draw.integer(low, high) for _ in range(case.m)]
    ignore_index = case.get("ignore", -100)
    if "ignored" in case:
        drawn[:: case.ignored] = [ignore_index] * len(drawn[:: case.ignored])
    if "lost" in case:
        logits[:: case.ignored] = math.nan
    target = draw(case.m, dtype=torch.int64, layout="contiguous", values="zeros")
    return logits, target.copy_(torch.tensor(drawn, dtype=torch.int64)), ignore_index


def reference(logits: torch.Tensor, target: torch.Tensor, ignore_index: int) -> torch.Tensor:
    wide = torch.promote_types(logits.dtype, torch.float32)
    return F.cross_entropy(logits.to(wide), target, ignore_index=ignore_index)


def mean_of_all(logits: torch.Tensor, target: torch.Tensor, ignore_index: int) -> torch.Tensor:
    return F.cross_entropy(logits, target, ignore_index=ignore_index, reduction="sum") / len(target)


def ignored_too(logits: torch.Tensor, target: torch.Tensor, ignore_index: int) -> torch.Tensor:
    """Ignored rows in the sum, though not in the count; a target that is no class has no logit."""
    picked = logits.gather(1, target.clamp(min=0)[:, None])[:, 0]
    losses = logits.logsumexp(1) - torch.where(target < 0, 0.0, picked)
    return losses.sum() / (target != ignore_index).sum()


def not_rescaled(logits: torch.Tensor, target: torch.Tensor, ignore_index: int) -> torch.Tensor:
    """The sum in blocks of 4096, each relative to the maximum so far."""
    blocks = logits.split(4096, dim=1)
    tops = torch.stack([block.amax(1) for block in blocks]).cummax(0).values
    sums = [torch.exp(block - top[:, None]).sum(1) for block, top in zip(blocks, tops, strict=True)]
    lse = tops[-1] + torch.stack(sums).sum(0).log()
    losses = lse - logits.gather(1, target.clamp(min=0)[:, None])[:, 0]
    counts = target != ignore_index
    return torch.where(counts, losses, 0.0).sum() / counts.sum()


big = Case(m=4096, v=128256, dtype=BRAIN, gpu=True)

# Two blocks of 4096 that fall, the target in the first; two that rise, the target in the last; and so on.
falling = Case(m=4, v=8192, lift=20.0, end=4096)
rising = Case(m=4, v=8192, lift=-3.0, first=4096)
sliced = Case(m=7, v=4096, layout="sliced")
low = Case(m=5, v=781, shift=-100.0)

BUGS = [
    Bug(
        "the target's logit is assigned in each block, so that a later one overwrites it with 0",
        "carried state that a turn replaces",
        witness=falling,
    ),
    Bug(
        "the running sum is not rescaled when the maximum rises",
        "carried state in an old unit",
        witness=rising,
    ),
    Bug(
        "rows are taken to begin n_cols apart",
        "a stride that is taken for granted",
        witness=sliced,
    ),
    Bug(
        "lanes past the row load 0 and count in the maximum and the sum",
        "masked lanes that are not neutral",
        witness=low,
    ),
]

challenge = Challenge(
    entry="cross_entropy",
    inputs=inputs,
    reference=reference,
    returns=torch.float32,
    no_host_reads=True,
    suspects={
        "The sum is divided by all rows; those that are ignored do not count.": mean_of_all,
        "An ignored row counts in the sum: its loss is 0.": ignored_too,
        "The running sum must be rescaled when the maximum rises: by exp(old maximum - new).": not_rescaled,
    },
    bugs=BUGS,
    cases=[
        Case(m=4, v=4096),
        falling,
        rising,
        low,
        Case(m=1, v=1),
        Case(m=0, v=8),
        Case(m=5, v=2),
        Case(m=3, v=33),
        Case(m=between(33, 47), v=between(98, 111)),
        Case(m=3, v=4095),
        Case(m=3, v=4097),
        Case(m=2, v=20011),
        Case(m=1, v=2**17 + 1),
        Case(m=1500, v=5),
        Case(m=3, v=5000, first=4999),
        Case(m=12, v=50, ignored=3),
        Case(m=12, v=50, ignored=1),
        Case(m=12, v=50, ignored=4, ignore=7),
        Case(m=12, v=50, ignored=3, lost=True, demand="extreme_inputs"),
        *(Case(m=1, v=v, shift=-3e4) for v in (500, 701, 1901, 2003)),
        Case(m=6, v=9000, shift=1e4, lift=50.0),
        Case(m=9, v=1000, dtype=HALF),
        Case(m=48, v=1008, dtype=HALF),
        Case(m=96, v=992, dtype=HALF),
        Case(m=9, v=1000, dtype=BRAIN),
        Case(m=300, v=64, dtype=HALF),
        Case(m=2, v=10007, dtype=BRAIN, ignored=2),
        sliced,
        Case(m=5, v=9001, layout="sliced", dtype=HALF),
        Case(m=5, v=500, layout="offset"),
        Case(m=6, v=50, layout="expanded"),
        Case(m=5, v=300, values="large"),
        Case(m=5, v=9001, values="rising"),
        Case(m=5, v=9001, values="spike"),
        Case(m=5, v=256, values="constant"),
        Case(m=5, v=9001, values="some_minus_inf", end=1, demand="values"),
        Case(m=5, v=77, values="inf"),
        Case(m=5, v=77, values="nan"),
        Case(m=6, v=60, calls=2),
        Case(m=17_001, v=2**17, dtype=HALF, huge=True),
    ],
    speed=Speed(big, moved=lambda logits, target, ignore_index: logits.nbytes, of_copy=0.48),
    # A few numbers a row, such as its loss, are no second matrix.
    memory=Memory(big, extra=lambda logits, target, ignore_index: 32 * len(target) + 4096),
)
