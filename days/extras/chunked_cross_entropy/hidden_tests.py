"""Extra: cross-entropy of few, wide rows, their chunks read by a program each, at 0.5 of a copy's rate."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, int]:
    """logits, target and chunk.

    logits are moved by `shift`; the first `blank` columns are -inf. The first target is the last class.
    """
    logits = draw(case.m, case.v)
    if "shift" in case:
        logits += case.shift
    target = draw.integers(case.m, low=0, high=case.v)
    target[:1] = case.v - 1
    if "blank" in case:
        logits[:, : case.blank] = -math.inf
    return logits, target, case.chunk


def reference(logits: Tensor, target: Tensor, chunk: int) -> tuple[Tensor, Tensor]:
    """loss and lse in fp32 or wider."""
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    lse = torch.logsumexp(wide, dim=1)
    return lse - wide.gather(1, target[:, None])[:, 0], lse


def chunks(logits: Tensor, target: Tensor, chunk: int) -> int:
    """Programs of the first launch."""
    return len(logits) * -(-logits.shape[1] // chunk)


wide = Case(m=512, v=262_144, chunk=16_384, dtype=BRAIN, gpu=True)

CASES = [
    Case(m=3, v=8, chunk=4),
    Case(m=0, v=8, chunk=4),
    Case(m=5, v=7, chunk=1),
    Case(m=2, v=6, chunk=64),
    Case(m=4, v=100, chunk=32),
    Case(m=3, v=96, chunk=32),
    Case(m=3, v=97, chunk=32),
    Case(m=1, v=2, chunk=2),
    Case(m=3, v=513, chunk=256),
    Case(m=2, v=1023, chunk=1024),
    Case(m=2, v=1025, chunk=1024),
    Case(m=3, v=90, chunk=2),
    Case(m=1, v=2100, chunk=2),
    Case(m=1, v=40_000, chunk=16_384),
    Case(m=2, v=9001, chunk=262_144),
    Case(m=between(65, 79), v=between(17, 23), chunk=8),
    Case(m=80, v=48, chunk=8),
    Case(m=96, v=96, chunk=8),
    Case(m=9, v=500, chunk=64, dtype=HALF),
    Case(m=9, v=500, chunk=64, dtype=BRAIN),
    Case(m=1, v=70_001, chunk=32_768, dtype=BRAIN),
    # Of one column the loss is 0, and lse - x is that to the bit where x is 0 alone.
    Case(m=1, v=1, chunk=1, values="zeros"),
    Case(m=40, v=1, chunk=16, values="zeros"),
    Case(m=9, v=70, chunk=16, layout="sliced"),
    Case(m=9, v=72, chunk=16, layout="padded", dtype=HALF),
    Case(m=9, v=70, chunk=16, layout="offset", dtype=BRAIN),
    Case(m=9, v=70, chunk=16, layout="expanded"),
    Case(m=5, v=700, chunk=64, values="rising"),
    Case(m=5, v=700, chunk=64, values="spike"),
    Case(m=5, v=700, chunk=64, values="negative", shift=-120.0),
    Case(m=3, v=700, chunk=64, values="negative", shift=-1e30),
    Case(m=5, v=700, chunk=64, values="heavy"),
    Case(m=5, v=700, chunk=64, values="constant"),
    Case(m=5, v=700, chunk=64, values="large"),
    Case(m=5, v=700, chunk=64, values="heavy", dtype=BRAIN),
    Case(m=5, v=700, chunk=64, values="some_minus_inf", demand="values"),
    Case(m=5, v=700, chunk=64, values="some_minus_inf", blank=600, demand="values"),
    Case(m=2, v=20_000, chunk=16_384, values="some_minus_inf", blank=19_000, demand="values"),
    Case(m=5, v=700, chunk=64, values="minus_inf", demand="values"),
    Case(m=5, v=700, chunk=64, values="inf"),
    Case(m=5, v=700, chunk=64, values="nan"),
    Case(m=9, v=70, chunk=16, calls=2),
    Case(m=16_001, v=262_144, chunk=32_768, dtype=BRAIN, huge=True),
    Case(m=70_001, v=1027, chunk=512, dtype=BRAIN, huge=True),
    Case(m=2100, v=70, chunk=16, layout="far", dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(m=1101, v=5, chunk=4),
]

challenge = Challenge(
    entry="chunked_cross_entropy",
    inputs=inputs,
    reference=reference,
    returns=torch.float32,
    rowwise=True,
    programs=chunks,
    programs_of="the first launch",
    no_host_reads=True,
    suspects=SUSPECTS,
    shown=Case(m=4, v=100, chunk=32),
    cases=CASES,
    speed=Speed(wide, moved=lambda logits, *_: logits.nbytes, of_copy=0.5),
    # Four numbers of fp32 a chunk; the logits in fp32 would be 16 times as much.
    memory=Memory(Case(m=128, v=8192, chunk=1024), extra=lambda *arguments: 16 * chunks(*arguments)),
)
