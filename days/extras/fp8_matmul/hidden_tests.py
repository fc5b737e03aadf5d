"""Extra: a product of FP8 matrices with scales; at 0.45 of torch's speed."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, E4M3, SINGLE

from .suspects import SUSPECTS


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


CASES = [
    Case(m=16, n=16, k=32, dtype=E4M3),
    Case(m=1, n=1, k=1, dtype=E4M3),
    Case(m=0, n=5, k=4, dtype=E4M3),
    Case(m=3, n=0, k=4, dtype=E4M3),
    Case(m=3, n=5, k=0, dtype=E4M3),
    Case(m=2, n=4, k=3, dtype=E4M3),
    Case(m=15, n=17, k=31, dtype=E4M3),
    Case(m=17, n=15, k=33, dtype=E4M3),
    Case(m=48, n=48, k=48, dtype=E4M3),
    Case(m=96, n=96, k=96, dtype=E4M3),
    Case(m=20, n=9, k=63, dtype=E4M3),
    Case(m=9, n=20, k=64, dtype=E4M3),
    Case(m=9, n=20, k=127, dtype=E4M3),
    Case(m=9, n=20, k=129, dtype=E4M3),
    Case(m=30, n=20, k=256, dtype=E4M3),
    Case(m=64, n=64, k=40, dtype=E4M3),
    Case(m=65, n=130, k=20, dtype=E4M3),
    Case(m=129, n=257, k=70, dtype=E4M3),
    Case(m=257, n=130, k=70, dtype=E4M3),
    Case(m=1100, n=300, k=40, dtype=E4M3),
    Case(m=5, n=7, k=between(962, 1020), dtype=E4M3),
    # Sums that 14 bits do not hold; of less than 64 rows they are exact.
    Case(m=70, n=9, k=2048, one_sign=True, dtype=E4M3),
    Case(m=130, n=7, k=8192, one_sign=True, dtype=E4M3),
    Case(m=5, n=7, k=16384, one_sign=True, dtype=E4M3),
    Case(m=20, n=30, k=40, layout="offset", dtype=E4M3),
    Case(m=20, n=30, k=300, values="integers", dtype=E4M3),
    Case(m=20, n=30, k=100, values="heavy", dtype=E4M3),
    Case(m=20, n=30, k=100, values="large", dtype=E4M3),
    Case(m=20, n=30, k=100, values="constant", dtype=E4M3),
    Case(m=20, n=30, k=100, values="zeros", dtype=E4M3),
    Case(m=20, n=30, k=100, values="nan", b_values="normal", dtype=E4M3),
    Case(m=20, n=30, k=100, b_values="nan", dtype=E4M3),
    Case(m=30, n=20, k=50, calls=2, dtype=E4M3),
    Case(m=2**20 + 5, n=9, k=2100, dtype=E4M3, huge=True),
    Case(m=9, n=2**20 + 5, k=2100, dtype=E4M3, huge=True),
    Case(m=50_001, n=50_003, k=20, dtype=E4M3, huge=True),
]

challenge = Challenge(
    entry="fp8_matmul",
    inputs=inputs,
    reference=reference,
    returns=BRAIN,
    suspects=SUSPECTS,
    shown=Case(m=65, n=130, k=20, dtype=E4M3),
    cases=CASES,
    speed=Speed(
        Case(m=8192, n=8192, k=8192, dtype=E4M3, gpu=True),
        moved=moved,
        flops=lambda a, b, *_: 2 * a.numel() * len(b),
        torch=scaled,
        of_torch=0.45,
    ),
    # 8.9 has e4m3, but Triton does not promote sums there, and torch has no scales for rows.
    needs=(9, 0),
)
