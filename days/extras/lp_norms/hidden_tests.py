"""Extra: L1 norms, and rows of length 1, at 0.65 of a plain copy; the gradient at 0.50."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import normalize

from grader.challenge import Case, Challenge, Gradients, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.tensor_storage import span

from .suspects import OF_L1, OF_L2


def one_input(case: Case, draw) -> tuple[Tensor]:
    """x [m, n]."""
    return (draw(case.m, case.n),)


def input_and_eps(case: Case, draw) -> tuple[Tensor, float]:
    """x [m, n] and eps; `thin=0.01` makes every second row so much shorter, so that eps is its divisor."""
    x = draw(case.m, case.n)
    if "thin" in case:
        x[::2] *= case.thin
    return x, case.get("eps", 1e-12)


def l1_reference(x: Tensor) -> Tensor:
    """Sums in fp32 or wider."""
    return torch.linalg.vector_norm(x, 1, dim=1, dtype=torch.promote_types(x.dtype, torch.float32))


def l2_reference(x: Tensor, eps: float) -> Tensor:
    """The quotient in fp32 or wider, rounded once."""
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return normalize(wide, dim=1, eps=eps).to(x.dtype)


def kept(x: Tensor, eps: float) -> int:
    """x or y, and a norm a row: a strided x as it lies in memory, gaps and all."""
    return max(span(x), x.numel() * x.element_size()) + 4 * len(x)


wide = Case(m=16384, n=4096, dtype=BRAIN, gpu=True)
narrow = Case(m=2**22, n=16, dtype=BRAIN, gpu=True)

L1_CASES = [
    Case(m=3, n=8),
    Case(m=1, n=1),
    Case(m=0, n=8),
    Case(m=7, n=33),
    Case(m=5, n=127),
    Case(m=5, n=129),
    Case(m=260, n=16),
    Case(m=4097, n=1),
    Case(m=3, n=between(2100, 2900)),
    Case(m=2, n=4099),
    Case(m=2, n=16384),
    Case(m=9, n=100, dtype=HALF),
    Case(m=9, n=100, dtype=BRAIN),
    Case(m=3, n=4097, dtype=HALF),
    Case(m=6, n=50, layout="sliced"),
    Case(m=6, n=50, layout="expanded", dtype=HALF),
    Case(m=5, n=64, layout="offset", dtype=BRAIN),
    Case(m=5, n=70, values="large", dtype=HALF),
    Case(m=5, n=70, values="negative"),
    Case(m=5, n=70, values="heavy"),
    Case(m=5, n=70, values="zeros"),
    Case(m=5, n=70, values="some_minus_inf"),
    Case(m=5, n=70, values="nan"),
    Case(m=7, n=40, calls=2),
    Case(m=170_001, n=16_379, dtype=HALF, huge=True),
]

L2_CASES = [
    Case(m=3, n=8),
    Case(m=4, n=1, eps=4.0),
    Case(m=0, n=8),
    Case(m=1, n=33),
    Case(m=5, n=127),
    Case(m=5, n=129),
    Case(m=260, n=16),
    Case(m=140, n=65),
    Case(m=3, n=between(2100, 2900)),
    Case(m=2, n=4099),
    Case(m=2, n=16384),
    Case(m=9, n=100, dtype=HALF),
    Case(m=9, n=100, dtype=BRAIN),
    Case(m=9, n=60, eps=0.5, thin=0.01),
    Case(m=9, n=60, eps=1e-3, thin=1e-5),
    Case(m=9, n=60, eps=0.5, thin=0.01, dtype=HALF),
    Case(m=8, n=20, eps=4.0),
    Case(m=9, n=60, thin=0.0, eps=0.25),
    Case(m=6, n=50, layout="sliced"),
    Case(m=6, n=50, layout="expanded"),
    Case(m=5, n=64, layout="offset"),
    Case(m=5, n=64, layout="offset", dtype=BRAIN),
    Case(m=5, n=70, values="large"),
    Case(m=5, n=70, values="large", dtype=HALF),
    Case(m=5, n=70, values="heavy"),
    Case(m=5, n=64, values="zeros", eps=0.1),
    Case(m=5, n=77, values="spike"),
    Case(m=5, n=70, values="inf"),
    Case(m=5, n=70, values="some_minus_inf"),
    Case(m=5, n=70, values="nan"),
    Case(m=5, n=60, upstream="sliced"),
    Case(m=6, n=33, upstream="transposed", dtype=BRAIN),
    Case(m=9, n=40, upstream="expanded"),
    Case(m=9, n=40, upstream="scalar"),
    Case(m=7, n=40, calls=2),
    Case(m=170_001, n=16_379, dtype=HALF, huge=True),
]

challenge = (
    Challenge(
        entry="l1_norm",
        inputs=one_input,
        reference=l1_reference,
        returns=torch.float32,
        reduces=lambda case: case.n,
        no_host_reads=True,
        suspects=OF_L1,
        shown=Case(m=5, n=127),
        cases=L1_CASES,
        speed=Speed(wide, moved=lambda x: x.nbytes + 4 * len(x), of_copy=0.65),
    ),
    Challenge(
        entry="l2_normalize",
        inputs=input_and_eps,
        reference=l2_reference,
        gradients=Gradients(of=(0,), saved=kept),
        no_host_reads=True,
        suspects=OF_L2,
        shown=Case(m=5, n=127),
        cases=L2_CASES,
        speed=[
            Speed(wide, moved=lambda x, eps: 2 * x.nbytes, of_copy=0.65),
            Speed(narrow, moved=lambda x, eps: 2 * x.nbytes, of_copy=0.65),
            Speed(wide, moved=lambda x, eps: 3 * x.nbytes, of_copy=0.50, part="backward"),
        ],
    ),
)
