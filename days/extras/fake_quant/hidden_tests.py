"""Extra: fake quantisation of rows, at 0.50 of a plain copy; its gradient is defined, not derived."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Gradients, Memory, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS, reference

NEAR = 2.0**-18  # of a quotient: so near to a half no case lies, but on it


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, Tensor, int, int]:
    """x, scale, zero_point, qmin, qmax.

    Scales are such that much is clamped and much is not. Zero points lie in [qmin, qmax], or at `zero`. Of
    `halves` every quotient is a multiple of a half, by scales that are powers of two.
    """
    low, high = case.get("qmin", -128), case.get("qmax", 127)
    x = draw(case.c, case.n)
    scale = draw(case.c, dtype=torch.float32, layout="contiguous", values="normal")
    scale.copy_((0.5 + scale.abs()) * 2 / (high - low))
    zero = draw.integers(case.c, low=low, high=high + 1, dtype=torch.int32)
    if "zero" in case:
        zero.fill_(case.zero)
    if "halves" in case:
        scale.copy_(2.0 ** draw.integers(case.c, low=-6, high=3))
        x.copy_(draw.integers(case.c, case.n, low=-case.halves, high=case.halves + 1) * 0.5 * scale[:, None])
    else:
        settle(x, scale)
    return x, scale, zero, low, high


def settle(x: Tensor, scale: Tensor) -> None:
    """Move what lies beside a half to an integer: on which side it ends depends on one rounding."""
    v = x.double() / scale.double()[:, None]
    near = (v - v.floor() - 0.5).abs() <= NEAR * v.abs()
    x.copy_(torch.where(near, v.floor() * scale.double()[:, None], x.double()))


def kept(x: Tensor, scale: Tensor, zero_point: Tensor, *_: int) -> int:
    return x.nbytes + scale.nbytes + zero_point.nbytes


wide = Case(c=8192, n=8192, dtype=BRAIN, gpu=True)
BYTES = {"qmin": 0, "qmax": 255}
NIBBLES = {"qmin": -8, "qmax": 7}
ODD = "degenerate_sizes"  # nobody quantises to so many levels

CASES = [
    Case(c=3, n=8),
    Case(c=1, n=1),
    Case(c=0, n=8),
    Case(c=300, n=1),
    Case(c=between(18, 31), n=between(114, 127)),
    Case(c=3, n=128),
    Case(c=5, n=1023),
    Case(c=3, n=1025, **BYTES),
    Case(c=2, n=9001, **NIBBLES),
    Case(c=64, n=20, **NIBBLES),
    Case(c=20, n=64, zero=0),
    Case(c=9, n=100, dtype=HALF),
    Case(c=48, n=112, dtype=HALF),
    Case(c=96, n=96, dtype=HALF),
    Case(c=9, n=100, dtype=BRAIN),
    Case(c=9, n=100, dtype=HALF, **BYTES),
    Case(c=9, n=100, dtype=BRAIN, **NIBBLES),
    Case(c=6, n=300, halves=300, exact=True),
    Case(c=6, n=300, halves=300, exact=True, zero=1, **BYTES),
    Case(c=6, n=300, halves=30, exact=True, zero=3, dtype=BRAIN, **NIBBLES),
    Case(c=6, n=300, halves=60, exact=True, zero=-7, dtype=HALF),
    # Levels past 2²², where rounding by adding 1.5 · 2²³ ends, and a zero point that fp16 does not hold.
    Case(c=6, n=300, halves=9_000_000, exact=True, zero=5001, qmin=-(2**23), qmax=2**22, demand=ODD),
    Case(c=6, n=100, zero=200, **NIBBLES),
    Case(c=5, n=64, layout="offset"),
    Case(c=5, n=64, layout="offset", dtype=BRAIN),
    Case(c=5, n=70, values="large"),
    Case(c=5, n=70, values="heavy"),
    Case(c=5, n=70, values="zeros", zero=5),
    Case(c=5, n=77, values="inf"),
    Case(c=5, n=77, values="nan"),
    Case(c=5, n=77, values="nan", dtype=HALF),
    Case(c=5, n=60, upstream="sliced"),
    Case(c=6, n=33, upstream="transposed"),
    Case(c=6, n=33, upstream="transposed", dtype=BRAIN),
    Case(c=9, n=40, upstream="expanded"),
    Case(c=9, n=40, upstream="scalar"),
    Case(c=7, n=40, calls=2),
    Case(c=170_001, n=16_379, dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(c=4301, n=5),
    Case(c=601, n=501),
]

challenge = Challenge(
    entry="fake_quantize",
    inputs=inputs,
    reference=reference,
    gradients=Gradients(of=(0,), saved=kept),
    no_host_reads=True,
    suspects=SUSPECTS,
    shown=Case(c=3, n=128),
    cases=CASES,
    speed=Speed(wide, moved=lambda x, *_: 2 * x.nbytes, of_copy=0.50),
    memory=Memory(wide, extra=lambda x, *_: x.numel()),
)
