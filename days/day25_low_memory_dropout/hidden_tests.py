"""Day 25: dropout without a mask in memory; the backward pass must drop the very same elements."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Chance, Gradients, Memory, Relation, Speed, between
from grader.challenge.formulas import dropout
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS


def kept(x: Tensor, p: float, seed: int, y: Tensor, *_: Tensor) -> Tensor:
    """Kept is what did not become 0; a NaN out of a number is a 0 gone wrong."""
    return (y != 0) & (x.isnan() | ~y.isnan())


def mask_of(outputs: tuple[Tensor, ...]) -> Tensor:
    return ((outputs[0] != 0) & ~outputs[0].isnan()).flatten()


def related(case: Case, **relation) -> Relation:
    """A relation between what two calls drop."""
    return dropout.related(mask_of, case, **relation)


LAYOUT = (
    "The same elements lie differently in memory, and others are dropped: the offset of a random number is "
    "the element's number in row-major order, not its place in memory."
)
RELATIONS = [
    related(
        Case(n=1300, p=0.5),
        other=lambda x, p, seed: (x, p, seed),
        holds=dropout.same,
        name="the same seed again",
        says="The same seed drops other elements the second time: use seed and the element's number, and "
        "nothing that changes from call to call.",
    ),
    related(
        Case(n=1300, p=0.5),
        other=lambda x, p, seed: (x, p, seed + 1),
        holds=dropout.other,
        name="another seed",
        says="Another seed drops the same elements: seed does not reach the random numbers.",
    ),
    dropout.next_seed(mask_of),
    dropout.finer(mask_of),
    dropout.longer(mask_of),
    related(
        Case(rows=6, cols=203, p=0.5),
        other=lambda x, p, seed: (x.view(203, 6), p, seed),
        holds=dropout.same,
        name="another shape",
        says="The same elements in another shape get another mask: count them in row-major order, whatever "
        "the shape.",
    ),
    related(
        Case(rows=6, cols=203, p=0.5, layout="transposed"),
        other=lambda x, p, seed: (x.contiguous(), p, seed),
        holds=dropout.same,
        name="another layout",
        says=LAYOUT,
    ),
    related(
        Case(batch=3, rows=4, cols=101, p=0.5, layout="sliced"),
        other=lambda x, p, seed: (x.contiguous(), p, seed),
        holds=dropout.same,
        name="another layout of rows",
        says=LAYOUT,
    ),
    dropout.other_numbers(mask_of),
    dropout.another_dtype(mask_of),
]
big = Case(rows=16384, cols=8192, p=0.5, gpu=True)

CASES = [
    Case(n=8, p=0.5),
    Case(n=1, p=0.5),
    Case(n=0, p=0.5),
    Case(n=5, p=0.5),
    Case(n=127, p=0.5),
    Case(n=1024, p=0.5),
    Case(n=1025, p=0.25),
    Case(n=5003, p=0.1),
    Case(rows=between(33, 47), cols=between(26, 31), p=0.5),
    Case(rows=60, cols=64, p=0.2),
    Case(batch=3, rows=5, cols=7, p=0.5),
    *(Case(n=500, p=0.1, dtype=dtype) for dtype in (HALF, BRAIN)),
    Case(n=600, p=1.0),
    # Here Philox gives 0.0 to elements 178 (a run for each) and 712 (a run for four).
    Case(n=800, p=0.0, seed=2850057, demand="extreme_inputs"),
    Case(n=1300, p=0.5, layout="strided"),
    Case(n=331, p=0.5, layout="offset", dtype=HALF),
    Case(n=1100, p=0.5, layout="expanded"),
    Case(rows=4, cols=203, p=0.5, layout="sliced"),
    Case(rows=3, cols=1023, p=0.5, layout="sliced"),
    Case(rows=4, cols=203, p=0.5, layout="transposed"),
    Case(rows=4, cols=203, p=0.5, layout="expanded", dtype=HALF),
    Case(batch=2, rows=3, cols=101, p=0.5, layout="columns"),
    Case(batch=2, rows=3, cols=101, p=0.5, layout="strided"),
    Case(n=900, p=0.5, upstream="scalar"),
    Case(n=900, p=0.5, upstream="strided"),
    Case(rows=4, cols=203, p=0.5, upstream="expanded"),
    Case(rows=4, cols=203, p=0.0, layout="broadcast", upstream="broadcast"),
    Case(rows=4, cols=203, p=0.5, upstream="transposed"),
    Case(rows=4, cols=203, p=0.5, layout="transposed", upstream="sliced"),
    Case(batch=2, rows=3, cols=101, p=0.5, layout="sliced", upstream="scalar"),
    Case(batch=2, rows=3, cols=101, p=0.5, upstream="transposed", dtype=BRAIN),
    Case(n=900, p=0.75, values="constant", exact=True),
    Case(n=900, p=0.0, values="heavy", exact=True),
    Case(n=200, p=0.5, values="heavy"),
    Case(n=200, p=0.9, values="large", dtype=HALF),
    Case(n=200, p=0.3, values="large", dtype=HALF),
    Case(n=200, p=0.5, values="inf"),
    Case(rows=20, cols=20, p=0.5, values="some_minus_inf"),
    Case(n=200, p=0.5, values="nan"),
    Case(n=200, p=1.0, values="inf"),
    Case(n=300, p=0.5, calls=2),
    Case(n=3 * 2**30 + 77, p=0.5, dtype=HALF, huge=True),
    Case(batch=3, rows=32_769, cols=32_771, p=0.5, dtype=HALF, layout="padded", huge=True),
    Case(batch=3, rows=32_769, cols=32_771, p=0.5, dtype=HALF, layout="transposed", huge=True),
    # Four elements share a run of Philox: their counters pass 2**32, too.
    Case(n=2**34 + 77, p=0.5, dtype=HALF, huge=True),
    Case(rows=2100, cols=9, p=0.5, layout="far", dtype=HALF, huge=True),
    Case(n=300_001, p=0.5),  # so that a fixed number of programs has several tiles each
]

challenge = Challenge(
    entry="dropout",
    inputs=dropout.inputs,
    reference=dropout.dropout,
    requires=("upstream_copies",),
    chance=Chance(keep=kept, rate=lambda case: 1 - case.p),
    gradients=Gradients(of=(0,), saved=lambda x, p, seed: 0),
    rowwise=True,
    cases=CASES,
    relations=RELATIONS,
    suspects=SUSPECTS,
    speed=Speed(
        big,
        moved=lambda x, p, seed: 4 * x.nbytes,
        of_torch=0.7,
        torch=lambda x, p, seed: torch.nn.functional.dropout(x, p),
        part="both",
    ),
    memory=Memory(big),
)
