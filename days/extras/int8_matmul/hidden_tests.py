"""Extra: a product of int8 matrices with scales and a zero point; at 0.90 of torch's speed in bf16."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, BYTE, INT, SINGLE

from .suspects import SUSPECTS


def inputs(case: Case, draw) -> tuple[Tensor | None, ...]:
    """a[m, k], b[k, n], a_scale[m], b_scale[n], a_zero[m] or None.

    `low=100` draws a and b from 100 on, `lowest=True` makes some of both -128, `zero=` is False for no zero
    point, or the one that all rows have; `ones=True` makes the scales 1, so that nothing is rounded but the
    integer.
    """
    a, b = (_drawn(case, draw, which, *shape) for which, shape in _shapes(case).items())
    a_scale, b_scale = (draw(size, dtype=SINGLE, layout=_vector(case)) for size in (case.m, case.n))
    if "ones" in case:
        a_scale.fill_(1.0)
        b_scale.fill_(1.0)
    if case.get("zero") is False:
        return a, b, a_scale, b_scale, None
    zero = draw.integers(case.m, low=-128, high=128, dtype=INT, layout=_vector(case))
    if "zero" in case:
        zero.fill_(case.zero)
    return a, b, a_scale, b_scale, zero


def _shapes(case: Case) -> dict[str, tuple[int, int]]:
    return {"a": (case.m, case.k), "b": (case.k, case.n)}


def _drawn(case: Case, draw, which: str, rows: int, cols: int) -> Tensor:
    layout = case.get(f"{which}_layout", case.layout)
    drawn = draw.integers(rows, cols, low=case.get("low", -128), high=128, dtype=BYTE, layout=layout)
    if "lowest" in case:
        drawn[::2] = -128
    return drawn


def _vector(case: Case) -> str:
    return "offset" if case.layout == "offset" else "contiguous"


def reference(a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor, a_zero: Tensor | None) -> Tensor:
    """fp64 holds every sum exactly."""
    shifted = a.double() if a_zero is None else a.double() - a_zero.double()[:, None]
    return (shifted @ b.double()) * a_scale.double()[:, None] * b_scale.double()


@cache
def _halves(m: int, k: int, n: int) -> tuple[Tensor, Tensor]:
    """Matrices of these sides in bf16; of b, too, the columns lie together."""
    return tuple(torch.randn(side, k, device="cuda", dtype=BRAIN) for side in (m, n))


def in_bf16(a: Tensor, b: Tensor, *_: Tensor | None) -> Tensor:
    """The product that quantising replaces: of matrices of the same sides in bf16."""
    left, right = _halves(*a.shape, b.shape[1])
    return left @ right.t()


def moved(a: Tensor, b: Tensor, *_: Tensor | None) -> int:
    return a.nbytes + b.nbytes + 4 * (a.shape[0] * b.shape[1] + a.shape[0] + b.shape[1])


big = Case(m=8192, k=8192, n=8192, zero=False, b_layout="transposed", gpu=True)

CASES = [
    Case(m=16, k=32, n=16),
    Case(m=48, k=48, n=48),
    Case(m=96, k=96, n=96),
    Case(m=16, k=32, n=16, zero=False),
    Case(m=1, k=1, n=1),
    Case(m=0, k=4, n=5),
    Case(m=3, k=4, n=0),
    Case(m=3, k=0, n=5),
    Case(m=3, k=0, n=5, zero=False),
    Case(m=2, k=3, n=4),
    Case(m=15, k=31, n=17),
    Case(m=17, k=33, n=15),
    Case(m=20, k=63, n=9, zero=False),
    Case(m=9, k=127, n=20),
    Case(m=9, k=128, n=20),
    Case(m=9, k=129, n=20),
    Case(m=64, k=40, n=64),
    Case(m=65, k=20, n=130),
    Case(m=129, k=70, n=257),
    Case(m=257, k=70, n=130, zero=False),
    Case(m=700, k=40, n=520),
    Case(m=5, k=between(482, 510), n=7),
    Case(m=7, k=100, n=9, zero=0),
    Case(m=7, k=100, n=9, zero=127),
    Case(m=7, k=100, n=9, zero=-128),
    # Sums past 2²⁴, which fp32 cannot count up to; the largest that there are, of either sign.
    Case(m=12, k=2048, n=20, low=100, ones=True, exact=True),
    Case(m=12, k=2048, n=20, low=100, ones=True, zero=False, exact=True),
    Case(m=5, k=65536, n=9, low=127, ones=True, zero=-128, exact=True),
    Case(m=5, k=9000, n=9, low=120, ones=True, zero=False, exact=True),
    Case(m=30, k=100, n=20, lowest=True, ones=True, exact=True),
    Case(m=30, k=100, n=20, lowest=True, zero=False),
    Case(m=20, k=40, n=30, layout="transposed"),
    Case(m=20, k=40, n=30, b_layout="transposed"),
    Case(m=20, k=40, n=30, a_layout="transposed", zero=False),
    Case(m=20, k=40, n=30, layout="columns"),
    Case(m=20, k=41, n=30, layout="sliced"),
    Case(m=20, k=41, n=30, layout="strided"),
    Case(m=20, k=41, n=30, layout="offset"),
    Case(m=20, k=40, n=30, a_layout="expanded"),
    Case(m=20, k=40, n=30, b_layout="expanded"),
    Case(m=30, k=50, n=20, calls=2),
    Case(m=2**20 + 5, k=2100, n=9, huge=True),
    Case(m=9, k=2100, n=2**20 + 5, huge=True),
    Case(m=9, k=2100, n=2**20 + 5, b_layout="transposed", huge=True),
    Case(m=2**20 + 5, k=2100, n=9, a_layout="transposed", huge=True),
    Case(m=50_001, k=20, n=50_003, huge=True),
    Case(m=2100, k=2100, n=9, layout="far", huge=True),
]

challenge = Challenge(
    entry="int8_matmul",
    inputs=inputs,
    reference=reference,
    returns=SINGLE,
    suspects=SUSPECTS,
    shown=Case(m=65, k=20, n=130),
    cases=CASES,
    speed=Speed(
        big,
        moved=moved,
        flops=lambda a, b, *_: 2 * a.numel() * b.shape[1],
        torch=in_bf16,
        of_torch=0.90,
    ),
    needs=(8, 0),  # Triton compiles no product of integers below
)
