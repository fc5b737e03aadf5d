"""Extra: a product of FP8 matrices, their sums promoted beside others' products; at 0.7 of torch's speed."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, E4M3, SINGLE
from grader.datasheets import GPUS

from .suspects import SUSPECTS


def on_gpu(**sizes: Any) -> Case:
    """With k that 16 divides and n that 8 divides, as TMA asks for."""
    return Case(gpu=True, dtype=E4M3, **sizes)


def inputs(case: Case, draw) -> tuple[Tensor, ...]:
    """a[m, k], b[n, k], a_scale[m], b_scale[n]; `one_sign=True` leaves no product negative."""
    a, b = draw(case.m, case.k), draw(case.n, case.k, values=case.get("b_values"))
    if "one_sign" in case:
        for codes in (a, b):
            codes.view(torch.uint8).bitwise_and_(0x7F)
    a_scale, b_scale = (draw(size, dtype=SINGLE, values="normal") for size in (case.m, case.n))
    return a, b, a_scale, b_scale


def reference(a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor) -> Tensor:
    return (a.double() @ b.double().t()) * a_scale.double()[:, None] * b_scale.double()


def scaled(a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor) -> Tensor:
    """torch's own, with sums that are promoted to fp32."""
    scales = a_scale[:, None], b_scale[None, :]
    return torch._scaled_mm(a, b.t(), *scales, out_dtype=BRAIN, use_fast_accum=False)


def moved(a: Tensor, b: Tensor, *_: Tensor) -> int:
    return a.nbytes + b.nbytes + 2 * len(a) * len(b) + 4 * (len(a) + len(b))


big = on_gpu(m=8192, n=8192, k=8192)

CASES = [
    on_gpu(m=128, n=256, k=128),
    on_gpu(m=1, n=8, k=16),
    on_gpu(m=2, n=16, k=32),
    on_gpu(m=63, n=120, k=112),
    on_gpu(m=65, n=136, k=144),
    on_gpu(m=127, n=248, k=96),
    on_gpu(m=129, n=264, k=272),
    on_gpu(m=1, n=1000, k=400),
    on_gpu(m=1000, n=8, k=208),
    on_gpu(m=between(130, 190), n=320, k=896),
    on_gpu(m=40, n=64, k=4096),
    on_gpu(m=2300, n=256, k=192),  # more than two groups of eight rows of tiles
    # More tiles than an SM each, of one step to seven: what is left of a tile meets the next.
    on_gpu(m=1500, n=3400, k=128),
    on_gpu(m=3400, n=1736, k=400),
    on_gpu(m=between(2900, 3000), n=3000, k=896),
    # Sums that 14 bits do not hold.
    on_gpu(m=70, n=16, k=2048, one_sign=True),
    on_gpu(m=130, n=8, k=8192, one_sign=True),
    on_gpu(m=5, n=264, k=16384, one_sign=True),
    on_gpu(m=70, n=144, k=304, values="integers"),
    on_gpu(m=70, n=144, k=112, values="heavy"),
    on_gpu(m=70, n=144, k=112, values="large"),
    on_gpu(m=70, n=144, k=112, values="constant"),
    on_gpu(m=70, n=144, k=112, values="zeros"),
    on_gpu(m=70, n=144, k=112, values="nan", b_values="normal"),
    on_gpu(m=1700, n=2600, k=272, calls=2),
]

challenge = Challenge(
    entry="fp8_matmul",
    inputs=inputs,
    reference=reference,
    returns=BRAIN,
    suspects=SUSPECTS,
    cases=CASES,
    targets={big: GPUS["h200"]},
    speed=Speed(big, moved=moved, flops=lambda a, b, *_: 2 * a.numel() * len(b), torch=scaled, of_torch=0.7),
    memory=Memory(big),
    needs=(9, 0),
    later=False,  # wgmma is an instruction of Hopper alone
)
