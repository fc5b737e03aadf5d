"""Extra: four activations of any shape and strides; forward at 0.75 of a plain copy, backward at 0.70."""

from __future__ import annotations

from torch import Tensor

from grader.challenge import Case, Challenge, Gradients, Own, Speed, between
from grader.challenge.formulas.draw_one_input import shape_of
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.tensor_storage import span

from .suspects import ACTIVATIONS, suspects_of

TINY, SMALL = Own("tiny"), Own("small")
REVERSED = Own("reversed")  # the first dimension lies closest together, the last one furthest apart


def inputs(case: Case, draw) -> tuple[Tensor]:
    """x of none to four dimensions; TINY values are of some 1e-4, SMALL ones lie about 0.12 and -0.12, others
    so far `below`.

    Where `reversed`, the first dimension lies closest together in memory, and the last one furthest apart.
    """
    shape = shape_of(case, "b", "c", "m", "n")
    if case.values == TINY:
        return (draw(*shape, values="normal").mul_(1e-4),)
    if case.values == SMALL:
        return (draw(*shape, values="large").mul_(1.2e-5),)
    if "below" in case:
        return (draw(*shape).sub_(case.below),)
    if case.layout == REVERSED:
        return (draw(*reversed(shape), layout="contiguous").permute(*reversed(range(len(shape)))),)
    return (draw(*shape),)


def kept(x: Tensor) -> int:
    """x or y: a strided x as it lies in memory, gaps and all."""
    return max(span(x), x.numel() * x.element_size())


wide = Case(n=2**28, dtype=BRAIN, gpu=True)

BARS = [
    Speed(wide, moved=lambda x: 2 * x.nbytes, of_copy=0.75),
    Speed(wide, moved=lambda x: 3 * x.nbytes, of_copy=0.70, part="backward"),
]

# What all four are tried on.
ALL = [
    Case(n=8),
    Case(),
    Case(n=0),
    Case(n=1023),
    Case(m=7, n=33),
    Case(b=2, c=3, m=5, n=between(18, 31)),
    Case(n=2053, dtype=HALF),
    Case(n=1536, dtype=HALF),
    Case(n=1056, dtype=HALF),
    Case(n=2053, dtype=BRAIN),
    Case(m=6, n=50, layout="transposed"),
    Case(b=2, c=3, m=4, n=5, layout=REVERSED),
    Case(m=30, n=17, layout="expanded", upstream="sliced"),
    Case(n=300, values="large"),
    Case(n=300, values=TINY),
    Case(n=300, values="inf"),
    Case(n=300, values="some_minus_inf"),
    Case(n=300, values="nan"),
    Case(m=9, n=40, upstream="transposed"),
    Case(m=9, n=40, upstream="scalar"),
    Case(m=9, n=40, calls=2),
    # Large enough that a fixed number of programs has several tiles each.
    Case(n=300_001),
]

# What one of them is tried on besides: the rest of the kernels is the same for all.
FIRST_ALONE = [
    Case(n=1),
    Case(m=0, n=8),
    Case(n=4095),
    Case(n=4097),
    Case(n=9001),
    Case(c=3, m=5, n=67),
    Case(c=2, m=70, n=31, dtype=HALF),
    Case(c=2, m=80, n=48, dtype=HALF),
    Case(c=2, m=96, n=96, dtype=HALF),
    Case(c=2, m=70, n=31, dtype=BRAIN),
    Case(n=331, layout="offset"),
    Case(n=331, layout="offset", dtype=HALF),
    Case(n=500, layout="strided"),
    Case(m=9, n=50, layout="sliced"),
    Case(c=3, m=9, n=56, layout="padded", dtype=HALF),
    Case(c=4, m=9, n=20, layout="columns", dtype=BRAIN),
    Case(c=2, m=7, n=9, layout=REVERSED),
    Case(m=20, n=30, layout="scalar"),
    Case(n=300, values="zeros"),
    Case(n=300, values="negative"),
    Case(n=300, values="heavy"),
    Case(n=300, below=18),  # 1 - 1 / (1 + e) has few digits there
    Case(n=300, values="large", dtype=HALF),
    Case(m=9, n=40, upstream="sliced"),
    Case(m=9, n=40, upstream="transposed", dtype=BRAIN),
    Case(b=2, c=3, m=5, n=7, upstream="transposed"),
    Case(b=2, c=3, m=5, n=7, upstream="expanded"),
    Case(n=500, upstream="strided", dtype=HALF),
    Case(m=6, n=50, layout="transposed", upstream="transposed"),
    Case(n=3 * 2**30 + 77, dtype=HALF, huge=True),
    Case(m=50_001, n=45_003, dtype=HALF, layout="transposed", huge=True),
    Case(m=50_001, n=45_003, dtype=HALF, upstream="transposed", huge=True),
    Case(m=2100, n=9, layout="far", upstream="far", dtype=HALF, huge=True),
]


def one(entry: str, cases: list[Case]) -> Challenge:
    """The challenge of one activation."""
    return Challenge(
        entry=entry,
        inputs=inputs,
        reference=ACTIVATIONS[entry],
        gradients=Gradients(of=(0,), saved=kept),
        suspects=suspects_of(entry),
        cases=cases,
        speed=BARS,
    )


challenge = (
    one("sigmoid", [*ALL, *FIRST_ALONE]),
    one(
        "tanh",
        [*ALL, Case(n=300, values="heavy"), Case(n=300, values=TINY, dtype=BRAIN), Case(n=300, values=SMALL)],
    ),
    one("silu", [*ALL, Case(n=300, values="heavy"), Case(n=300, values="negative", dtype=HALF)]),
    one("gelu", [*ALL, Case(n=300, values="heavy"), Case(n=300, values="negative", dtype=HALF)]),
)
