"""Extra: residual addition, RMS norm and int8 quantisation in one kernel, at 0.50 of a plain copy."""

from __future__ import annotations

from torch import Tensor

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS, added, normed, quantised, scale_of

NEAR = 2.0**-20  # of a quotient: so near to a half it may be rounded to either side


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, Tensor, float]:
    """x, residual, weight, eps; `r_values` are residual's, `w_values` the weight's.

    `thin` makes rows so flat that eps decides, `blank` the first one 0. Where a case is exact every sum is 1
    or -1, and the weight is halves up to 127: then the scale is 1, and the quotients are halves; n is a power
    of two there, for by 300 no GPU divides exactly unless it is told to.
    """
    x = draw(case.m, case.n)
    residual = draw(case.m, case.n, values=case.get("r_values"))
    weight = draw(case.n, layout="contiguous", values=case.get("w_values", "normal"))
    if "thin" in case:
        x *= case.thin
        residual *= case.thin
        weight *= case.get("w_thin", 1.0)
    if "blank" in case:
        x[0], residual[0] = 0.0, 0.0
    if case.exact:
        x.copy_(draw.integers(case.m, case.n, low=-3, high=4))
        residual.copy_(2 * draw.integers(case.m, case.n, low=0, high=2) - 1 - x)
        weight.copy_(draw.integers(case.n, low=-253, high=254) * 0.5)
        weight[-1:] = 127.0
    return x, residual, weight, case.get("eps", 0.0 if case.exact else 1e-5)


def reference(x: Tensor, residual: Tensor, weight: Tensor, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """What residual holds afterwards, q and scale."""
    total = added(x, residual)
    return quantised(total, normed(total, weight, eps))


def near_tie(got: Tensor, x: Tensor, residual: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Where the exact quotient is nearly a half, and `got` one of the integers beside it."""
    y = normed(added(x, residual).double(), weight.double(), eps)
    exact = y / scale_of(y)
    tied = (exact - exact.floor() - 0.5).abs() <= NEAR * exact.abs()
    return tied & ((got == exact.floor()) | (got == exact.ceil()))


def moved(x: Tensor, *_: object) -> int:
    """x and residual are read, residual and q written: 7 bytes an element."""
    return 3 * x.nbytes + x.numel()


wide = Case(m=16384, n=4096, dtype=BRAIN, gpu=True)

CASES = [
    Case(m=4, n=64, dtype=HALF),
    Case(m=4, n=64, dtype=BRAIN),
    Case(m=0, n=8, dtype=HALF),
    Case(m=0, n=8, dtype=BRAIN),
    Case(m=1, n=1, dtype=BRAIN),
    Case(m=5, n=1, dtype=BRAIN),
    Case(m=5, n=7, dtype=HALF),
    Case(m=3, n=127, dtype=BRAIN),
    Case(m=3, n=128, dtype=HALF),
    Case(m=3, n=129, dtype=HALF),
    Case(m=between(130, 143), n=between(17, 31), dtype=HALF),
    Case(m=144, n=48, dtype=HALF),
    Case(m=160, n=96, dtype=HALF),
    Case(m=67, n=33, dtype=BRAIN),
    Case(m=3, n=1023, dtype=BRAIN),
    Case(m=3, n=1025, dtype=HALF),
    Case(m=2, n=4099, dtype=HALF),
    Case(m=2, n=16_384, dtype=BRAIN),
    Case(m=8, n=256, dtype=HALF, exact=True),
    Case(m=8, n=256, dtype=BRAIN, exact=True),
    Case(m=2, n=4096, dtype=BRAIN, exact=True),
    Case(m=6, n=100, eps=0.5, dtype=HALF),
    Case(m=6, n=100, eps=1e-3, thin=0.01, dtype=HALF),
    Case(m=6, n=100, eps=1e-3, thin=0.01, dtype=BRAIN),
    Case(m=6, n=100, eps=1e-12, thin=1e-6, w_thin=1e-6, dtype=BRAIN, demand="extreme_inputs"),
    Case(m=6, n=100, blank=1, dtype=HALF),
    Case(m=6, n=100, blank=1, dtype=BRAIN),
    Case(m=6, n=100, dtype=HALF, layout="offset"),
    Case(m=6, n=100, dtype=BRAIN, layout="offset"),
    Case(m=6, n=100, dtype=HALF, values="large"),
    Case(m=6, n=100, dtype=BRAIN, values="heavy"),
    Case(m=6, n=100, dtype=HALF, values="negative", w_values="constant"),
    Case(m=6, n=100, dtype=BRAIN, values="spike"),
    Case(m=6, n=1001, dtype=HALF, values="spike", r_values="zeros"),
    Case(m=6, n=100, dtype=BRAIN, values="zeros"),
    Case(m=6, n=100, dtype=BRAIN, values="zeros", r_values="normal"),
    Case(m=6, n=100, dtype=HALF, values="normal", w_values="zeros"),
    Case(m=6, n=100, dtype=HALF, values="normal", w_values="spike"),
    Case(m=7, n=90, dtype=HALF, calls=2),
    Case(m=7, n=90, dtype=BRAIN, calls=2),
    Case(m=100_003, n=128, dtype=HALF, gpu=True, demand="grid_axes"),
    Case(m=170_001, n=16_379, dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(m=1101, n=5, dtype=HALF),
]

challenge = Challenge(
    entry="add_rms_norm_quant",
    inputs=inputs,
    reference=reference,
    writes=(1,),
    accept=near_tie,
    no_host_reads=True,
    suspects=SUSPECTS,
    shown=Case(m=4, n=64, dtype=HALF),
    cases=CASES,
    speed=Speed(wide, moved=moved, of_copy=0.50),
    memory=Memory(wide),
)
