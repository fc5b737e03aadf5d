"""Day 24: dropout; which elements go is a function of the seed and an element's number, and nothing else."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, Chance, Memory, Relation, Speed, between
from grader.challenge.formulas import dropout
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS


def mask_of(outputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
    return outputs[1].flatten()


def related(n: int, **relation) -> Relation:
    """A relation between two masks over the first n elements."""
    return dropout.related(mask_of, Case(n=n, p=0.5), **relation)


RELATIONS = [
    related(
        n=1300,
        other=lambda x, p, seed: (x, p, seed),
        holds=dropout.same,
        name="the same seed again",
        says="The same seed gives another mask the second time: use seed and the element's number, and "
        "nothing that changes from call to call.",
    ),
    related(
        n=1300,
        other=lambda x, p, seed: (x, p, seed + 1),
        holds=dropout.other,
        name="another seed",
        says="Another seed gives the same mask: seed does not reach the random numbers.",
    ),
    related(
        n=1300,
        other=lambda x, p, seed: (x, p, seed + 2**32),
        holds=dropout.other,
        name="another seed past 32 bits",
        says="seed and seed + 2³² give the same mask: the upper bits of the seed are cut off.",
    ),
    dropout.next_seed(mask_of),
    dropout.finer(mask_of),
    dropout.longer(mask_of),
    related(
        n=1200,
        other=lambda x, p, seed: (x.view(12, 100), p, seed),
        holds=dropout.same,
        name="another shape",
        says="The same elements as a matrix get another mask: count them in row-major order, whatever "
        "the shape.",
    ),
    dropout.other_numbers(mask_of),
    dropout.another_dtype(mask_of),
]
big = Case(n=2**27, p=0.5, gpu=True)

challenge = Challenge(
    entry="dropout",
    inputs=dropout.inputs,
    reference=lambda x, p, seed, keep: (dropout.dropout(x, p, seed, keep), keep),
    chance=Chance(keep=lambda x, p, seed, y, mask: mask, rate=lambda case: 1 - case.p),
    rowwise=True,
    cases=[
        Case(n=8, p=0.5),
        Case(n=1, p=0.5),
        Case(n=0, p=0.5),
        Case(n=3, p=0.5),
        Case(n=5, p=0.5),
        Case(n=127, p=0.5),
        Case(n=1023, p=0.5),
        Case(n=1536, p=0.5),
        Case(n=1024, p=0.5),
        Case(n=1025, p=0.25),
        Case(n=2003, p=0.1),
        Case(n=2048, p=0.9),
        Case(n=12007, p=0.3),
        Case(rows=between(33, 47), cols=between(26, 31), p=0.5),
        Case(rows=64, cols=64, p=0.2),
        Case(batch=3, rows=5, cols=7, p=0.5),
        Case(n=500, p=0.1, dtype=HALF),
        Case(n=500, p=0.1, dtype=BRAIN),
        Case(n=600, p=0.0),
        Case(n=600, p=1.0),
        # Here Philox gives 0.0 to elements 178 (a run for each) and 712 (a run for four).
        Case(n=800, p=0.0, seed=2850057, demand="extreme_inputs"),
        Case(n=800, p=0.5, seed=0),
        Case(n=800, p=0.5, seed=2**62 + 1),
        Case(n=331, p=0.5, layout="offset"),
        Case(n=331, p=0.5, layout="offset", dtype=HALF),
        Case(n=900, p=0.0, values="integers", exact=True),
        Case(n=900, p=0.75, values="integers", exact=True),
        Case(n=900, p=0.5, values="integers", dtype=HALF, exact=True),
        Case(n=200, p=0.5, values="constant"),
        Case(n=200, p=0.0, values="zeros"),
        Case(n=200, p=0.5, values="heavy"),
        Case(n=200, p=0.9, values="large", dtype=HALF),
        Case(n=200, p=0.3, values="large", dtype=HALF),
        Case(n=200, p=0.5, values="inf"),
        Case(rows=20, cols=20, p=0.5, values="some_minus_inf"),
        Case(n=200, p=0.5, values="nan"),
        *(Case(n=200, p=p, values=values) for p in (0.0, 1.0) for values in ("inf", "nan")),
        Case(n=300, p=0.5, calls=2),
        Case(n=2**32 + 77, p=0.5, dtype=HALF, huge=True),
        # Large enough that a fixed number of programs has several tiles each.
        Case(n=300_001, p=0.5),
    ],
    relations=RELATIONS,
    suspects=SUSPECTS,
    speed=Speed(
        big,
        moved=lambda x, p, seed: 2 * x.nbytes + x.numel(),
        of_torch=0.7,
        torch=lambda x, p, seed: torch.native_dropout(x, p, True),
    ),
    memory=Memory(big),
)
