"""Day 24: dropout; which elements go is a function of the seed and an element's number, and nothing else."""

from __future__ import annotations

from typing import Any

import torch

from grader.challenge import Case, Challenge, Chance, Memory, Relation, Speed

HALF, BRAIN = torch.float16, torch.bfloat16
Pair = tuple[torch.Tensor, ...]


def inputs(case: Case, draw) -> tuple[torch.Tensor, float, int]:
    """x of the case's shape, the probability of dropping an element, and a seed of 31 bits."""
    shape = [case.get(side) for side in ("batch", "rows", "cols", "n") if side in case]
    return draw(*shape), case.p, case.get("seed", draw.integer(0, 2**31))


def dropped(kept: Any, keep: torch.Tensor) -> Pair:
    """`kept` where `keep` says so and 0 elsewhere, and the mask."""
    return torch.where(keep, kept, 0), keep


def related(n: int, other, holds, name: str, says: str) -> Relation:
    """A relation between two masks over the first n elements."""
    return Relation(name, Case(n=n, p=0.5), other, lambda one, two: holds(one[1], two[1]), says)


def same(one: torch.Tensor, two: torch.Tensor) -> bool:
    """The masks begin alike, whatever their shapes."""
    length = min(one.numel(), two.numel())
    return torch.equal(one.flatten()[:length], two.flatten()[:length])


def shifted(one: torch.Tensor, two: torch.Tensor) -> bool:
    """One mask is the other, moved by a power of two."""
    pairs = [
        (a[by:], b[: len(b) - by]) for by in (2**i for i in range(11)) for a, b in ((one, two), (two, one))
    ]
    return any(torch.equal(a, b) for a, b in pairs)


big = Case(n=2**27, p=0.5, gpu=True)

challenge = Challenge(
    entry="dropout",
    inputs=inputs,
    reference=lambda x, p, seed, keep: dropped(x / (1 - p or 1), keep),
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
        Case(n=1024, p=0.5),
        Case(n=1025, p=0.25),
        Case(n=2003, p=0.1),
        Case(n=2048, p=0.9),
        Case(n=12007, p=0.3),
        Case(rows=37, cols=29, p=0.5),
        Case(rows=64, cols=64, p=0.2),
        Case(batch=3, rows=5, cols=7, p=0.5),
        Case(n=500, p=0.1, dtype=HALF),
        Case(n=500, p=0.1, dtype=BRAIN),
        Case(n=600, p=0.0),
        Case(n=600, p=1.0),
        # Here Philox gives 0.0 to elements 178 (a run for each) and 712 (a run for four).
        Case(n=800, p=0.0, seed=2850057),
        Case(n=800, p=0.5, seed=0),
        Case(n=800, p=0.5, seed=2**62 + 1),
        Case(n=331, p=0.5, layout="offset"),
        Case(n=331, p=0.5, layout="offset", dtype=HALF),
        Case(n=900, p=0.0, values="integers", exact=True),
        Case(n=900, p=0.75, values="integers", exact=True),
        Case(n=900, p=0.5, values="integers", dtype=HALF, exact=True),
        Case(n=200, p=0.5, values="constant"),
        Case(n=200, p=0.5, values="heavy"),
        Case(n=200, p=0.9, values="large", dtype=HALF),
        Case(n=200, p=0.5, values="inf"),
        Case(rows=20, cols=20, p=0.5, values="some_minus_inf"),
        Case(n=200, p=0.5, values="nan"),
        Case(n=200, p=0.0, values="inf"),
        Case(n=200, p=1.0, values="inf"),
        Case(n=200, p=1.0, values="nan"),
        Case(n=300, p=0.5, calls=2),
        Case(n=2**31 + 77, p=0.5, dtype=HALF, gpu=True),
    ],
    relations=[
        related(
            n=1300,
            other=lambda x, p, seed: (x, p, seed),
            holds=same,
            name="the same seed again",
            says="The same seed gives another mask the second time: use seed and the element's number, and "
            "nothing that changes from call to call.",
        ),
        related(
            n=1300,
            other=lambda x, p, seed: (x, p, seed + 1),
            holds=lambda one, two: not same(one, two),
            name="another seed",
            says="Another seed gives the same mask: seed does not reach the random numbers.",
        ),
        related(
            n=1300,
            other=lambda x, p, seed: (x, p, seed + 2**32),
            holds=lambda one, two: not same(one, two),
            name="another seed past 32 bits",
            says="seed and seed + 2³² give the same mask: the upper bits of the seed are cut off.",
        ),
        related(
            n=2600,
            other=lambda x, p, seed: (x, p, seed + 1),
            holds=lambda one, two: not shifted(one, two),
            name="the next seed",
            says="The mask of seed + 1 is that of seed, shifted: what is added to the seed, such as the "
            "program's number, is reached from another seed too. Put it into the offset.",
        ),
        related(
            n=700,
            other=lambda x, p, seed: (torch.cat([x, x]), p, seed),
            holds=same,
            name="a longer x",
            says="A longer x begins with another mask: the random numbers depend on the length, or on a "
            "BLOCK chosen by it. The offset of element i must be made from i alone.",
        ),
        related(
            n=1200,
            other=lambda x, p, seed: (x.view(12, 100), p, seed),
            holds=same,
            name="another shape",
            says="The same elements as a matrix get another mask: count them in row-major order, whatever "
            "the shape.",
        ),
        related(
            n=1200,
            other=lambda x, p, seed: (x.half(), p, seed),
            holds=same,
            name="another dtype",
            says="fp16 gets another mask than fp32: the random numbers depend on the dtype, or on a BLOCK "
            "chosen by it.",
        ),
    ],
    suspects={
        "Kept elements are not scaled: divide them by 1 - p, and the mean of y stays that of x.": (
            lambda x, p, seed, keep: dropped(x, keep)
        ),
        "Kept elements are divided by p where 1 - p, the share that is kept, is right.": (
            lambda x, p, seed, keep: dropped(x / p if p else x, keep)
        ),
        "Kept elements are multiplied by 1 - p where they should be divided by it.": (
            lambda x, p, seed, keep: dropped(x * (1 - p), keep)
        ),
        "y is 0 where mask is true: it must be true where an element is kept.": (
            lambda x, p, seed, keep: (dropped(x / (1 - p or 1), ~keep)[0], keep)
        ),
        "Dropped elements come out as they went in: they must be 0.": (
            lambda x, p, seed, keep: (torch.where(keep, x / (1 - p or 1), x), keep)
        ),
        "Every element is scaled and none is dropped: y does not follow the mask.": (
            lambda x, p, seed, keep: (x / (1 - p or 1), keep)
        ),
        "Dropped elements are multiplied by 0, and 0 · Inf and 0 · NaN are NaN: choose, as tl.where does.": (
            lambda x, p, seed, keep: (x * keep / (1 - p or 1), keep)
        ),
        "At p = 1 the scale 1 / (1 - p) is Inf, and 0 · Inf is NaN: choose 0, do not multiply by it.": (
            lambda x, p, seed, keep: (x * keep * (1 / (1 - p) if p < 1 else torch.inf), keep)
        ),
    },
    speed=Speed(
        big,
        moved=lambda x, p, seed: 2 * x.nbytes + x.numel(),
        of_torch=0.7,
        torch=lambda x, p, seed: torch.native_dropout(x, p, True),
    ),
    memory=Memory(big),
)
