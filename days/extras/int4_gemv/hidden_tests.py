"""Extra: up to 16 rows times 4-bit weights, at 0.6 of the speed at which torch multiplies them in fp16."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS, product


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, Tensor, Tensor, int]:
    """x[m, k], packed[n, k / 2], scales[n, k / g] and zeros[n, k / g].

    Scales are powers of two in a case that is exact, else between 0.2 and 5 or so, times `gain`. `zero` has
    all zero points alike.
    """
    groups = case.k // case.g
    packed = draw.integers(case.n, case.k // 2, low=0, high=256, dtype=torch.uint8, layout=case.layout)
    zeros = draw.integers(case.n, groups, low=0, high=16, dtype=torch.uint8, layout=case.layout)
    if "zero" in case:
        zeros.fill_(case.zero)
    scales = draw(case.n, groups, values=case.get("scale_values", "normal"))
    scales.copy_(2.0 ** scales.sign() if case.exact else case.get("gain", 1.0) * (scales / 2).exp())
    return draw(case.m, case.k), packed, scales, zeros, case.g


@lru_cache(maxsize=1)
def weights(n: int, k: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """As many weights in 16 bits: those that torch multiplies in the race."""
    return torch.randn(n, k, dtype=dtype, device=device)


def by_torch(x: Tensor, packed: Tensor, *_) -> Tensor:
    """torch's own product with weights of 16 bits."""
    return x @ weights(len(packed), x.shape[1], x.dtype, x.device).mT


def moved(x: Tensor, packed: Tensor, scales: Tensor, zeros: Tensor, _: int) -> int:
    y = len(x) * len(packed) * x.element_size()
    return x.nbytes + packed.nbytes + scales.nbytes + zeros.nbytes + y


def flops(x: Tensor, packed: Tensor, *_) -> int:
    return 2 * x.numel() * len(packed)


one = Case(m=1, n=16384, k=16384, g=128, dtype=HALF, gpu=True)
many = Case(m=16, n=16384, k=16384, g=128, dtype=HALF, gpu=True)

CASES = [
    Case(m=1, n=8, k=32, g=32, dtype=HALF),
    Case(m=1, n=1, k=32, g=32, dtype=BRAIN),
    Case(m=0, n=8, k=64, g=32, dtype=HALF),
    Case(m=2, n=0, k=64, g=32, dtype=HALF),
    Case(m=2, n=9, k=0, g=32, dtype=HALF),
    Case(m=2, n=9, k=0, g=128, dtype=BRAIN),
    Case(m=2, n=70, k=64, g=32, dtype=HALF),
    Case(m=1, n=between(18, 30), k=64, g=64, dtype=HALF),
    Case(m=1, n=20, k=128, g=128, dtype=HALF),
    Case(m=1, n=40, k=96, g=32, dtype=HALF),
    Case(m=3, n=40, k=192, g=64, dtype=HALF),
    Case(m=4, n=40, k=640, g=128, dtype=HALF),
    Case(m=5, n=40, k=544, g=32, dtype=BRAIN),
    Case(m=7, n=31, k=1088, g=64, dtype=BRAIN),
    Case(m=8, n=33, k=384, g=128, dtype=BRAIN),
    Case(m=15, n=63, k=160, g=32, dtype=HALF),
    Case(m=16, n=64, k=128, g=32, dtype=HALF),
    Case(m=16, n=65, k=256, g=64, dtype=BRAIN),
    Case(m=1, n=127, k=256, g=128, dtype=HALF),
    Case(m=1, n=96, k=256, g=128, dtype=HALF),
    Case(m=1, n=112, k=256, g=128, dtype=HALF),
    Case(m=1, n=129, k=224, g=32, dtype=HALF),
    Case(m=1, n=300, k=64, g=32, dtype=BRAIN),
    Case(m=1, n=20, k=2048, g=128, dtype=HALF),
    Case(m=16, n=20, k=1920, g=64, dtype=BRAIN),
    Case(m=2, n=40, k=96, g=32, zero=0, dtype=HALF),
    Case(m=2, n=40, k=96, g=32, zero=15, dtype=HALF),
    # Terms of one sign: sums in 16 bits stand still.
    Case(m=2, n=20, k=2048, g=32, zero=0, gain=2.0**-7, values="negative", dtype=HALF),
    Case(m=16, n=20, k=1024, g=32, zero=15, gain=2.0**-7, values="negative", dtype=BRAIN),
    # Scales that fp16 does not hold, and no model has.
    Case(m=3, n=40, k=64, g=32, gain=2.0**-30, dtype=BRAIN, demand="extreme_inputs"),
    Case(m=3, n=40, k=160, g=32, layout="offset", dtype=HALF),
    Case(m=16, n=40, k=256, g=128, layout="offset", dtype=BRAIN),
    Case(m=3, n=20, k=32, g=32, values="integers", dtype=HALF, exact=True),
    Case(m=3, n=20, k=96, g=32, values="integers", dtype=BRAIN),
    Case(m=3, n=40, k=128, g=64, values="zeros", dtype=HALF),
    Case(m=3, n=40, k=128, g=64, values="constant", dtype=BRAIN),
    Case(m=3, n=40, k=128, g=64, values="heavy", dtype=BRAIN),
    Case(m=3, n=40, k=128, g=64, values="large", gain=2.0**-9, dtype=HALF),
    Case(m=3, n=40, k=128, g=64, values="spike", dtype=HALF),
    Case(m=3, n=40, k=128, g=64, values="inf", dtype=HALF),
    Case(m=3, n=40, k=128, g=64, values="nan", dtype=BRAIN),
    Case(m=3, n=40, k=128, g=64, scale_values="nan", dtype=HALF),
    Case(m=3, n=40, k=128, g=64, values="zeros", scale_values="nan", dtype=HALF),
    Case(m=5, n=70, k=192, g=64, calls=2, dtype=HALF),
    Case(m=2, n=2**20 + 5, k=4096, g=128, dtype=HALF, huge=True),
]

challenge = Challenge(
    entry="int4_gemv",
    inputs=inputs,
    reference=product,
    reduces=lambda case: case.k,
    no_host_reads=True,
    suspects=SUSPECTS,
    shown=Case(m=2, n=70, k=64, g=32, dtype=HALF),
    cases=CASES,
    speed=[
        Speed(one, moved=moved, torch=by_torch, of_torch=0.6, sweep=("n", "k")),
        Speed(many, moved=moved, flops=flops, torch=by_torch, of_torch=0.6, sweep=("n", "k")),
    ],
)
