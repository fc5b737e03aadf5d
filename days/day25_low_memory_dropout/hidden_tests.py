"""Day 25: dropout without a mask in memory; the backward pass must drop the very same elements."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.challenge import Case, Challenge, Chance, Gradients, Memory, Relation, Speed

HALF, BRAIN = torch.float16, torch.bfloat16
Tensor = torch.Tensor


def inputs(case: Case, draw) -> tuple[Tensor, float, int]:
    """x of the case's shape, the probability of dropping an element, and a seed of 31 bits."""
    shape = [case.get(side) for side in ("batch", "rows", "cols", "n") if side in case]
    return draw(*shape), case.p, case.get("seed", draw.integer(0, 2**31))


def kept(x: Tensor, p: float, seed: int, y: Tensor, *_: Tensor) -> Tensor:
    """Kept is what did not become 0; a NaN out of a number is a 0 gone wrong."""
    return (y != 0) & (x.isnan() | ~y.isnan())


def right(x: Tensor, p: float, seed: int, keep: Tensor) -> Tensor:
    """The oracle."""
    return torch.where(keep, x, 0) / (1 - p or 1)


def backward(wrong: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function with the right values and the gradient of `wrong`."""

    def both(x: Tensor, p: float, seed: int, keep: Tensor) -> Tensor:
        guess = wrong(x, p, keep)
        return guess - guess.detach() + right(x, p, seed, keep).detach()

    return both


def related(case: Case, other, holds, name: str, says: str) -> Relation:
    """A relation between what two calls drop, as vectors in row-major order."""
    return Relation(
        name, case, other, lambda one, two: holds((one[0] != 0).flatten(), (two[0] != 0).flatten()), says
    )


def same(one: Tensor, two: Tensor) -> bool:
    """The masks begin alike."""
    length = min(len(one), len(two))
    return torch.equal(one[:length], two[:length])


def shifted(one: Tensor, two: Tensor) -> bool:
    """One mask is the other, moved by a power of two."""
    moved = [(a[2**i :], b[: len(b) - 2**i]) for i in range(11) for a, b in ((one, two), (two, one))]
    return any(torch.equal(a, b) for a, b in moved)


LAYOUT = (
    "The same elements lie differently in memory, and others are dropped: the offset of a random number is "
    "the element's number in row-major order, not its place in memory."
)
big = Case(rows=16384, cols=8192, p=0.5, gpu=True)

challenge = Challenge(
    entry="dropout",
    inputs=inputs,
    reference=right,
    chance=Chance(keep=kept, rate=lambda case: 1 - case.p),
    gradients=Gradients(of=(0,), saved=lambda x, p, seed: 0),
    rowwise=True,
    cases=[
        Case(n=8, p=0.5),
        Case(n=1, p=0.5),
        Case(n=0, p=0.5),
        Case(n=5, p=0.5),
        Case(n=127, p=0.5),
        Case(n=1024, p=0.5),
        Case(n=1025, p=0.25),
        Case(n=5003, p=0.1),
        Case(rows=37, cols=29, p=0.5),
        Case(rows=60, cols=64, p=0.2),
        Case(batch=3, rows=5, cols=7, p=0.5),
        Case(n=500, p=0.1, dtype=HALF),
        Case(n=500, p=0.1, dtype=BRAIN),
        Case(n=600, p=1.0),
        # Here Philox gives 0.0 to elements 178 (a run for each) and 712 (a run for four).
        Case(n=800, p=0.0, seed=2850057),
        Case(n=1300, p=0.5, layout="strided"),
        Case(n=331, p=0.5, layout="offset", dtype=HALF),
        Case(n=1100, p=0.5, layout="expanded"),
        Case(rows=4, cols=203, p=0.5, layout="sliced"),
        Case(rows=3, cols=1023, p=0.5, layout="sliced"),
        Case(rows=4, cols=203, p=0.5, layout="transposed"),
        Case(rows=4, cols=203, p=0.5, layout="expanded", dtype=HALF),
        Case(batch=2, rows=3, cols=101, p=0.5, layout="transposed"),
        Case(batch=2, rows=3, cols=101, p=0.5, layout="strided"),
        Case(n=900, p=0.5, upstream="scalar"),
        Case(n=900, p=0.5, upstream="strided"),
        Case(rows=4, cols=203, p=0.5, upstream="expanded"),
        Case(rows=4, cols=203, p=0.5, upstream="transposed"),
        Case(rows=4, cols=203, p=0.5, layout="transposed", upstream="sliced"),
        Case(batch=2, rows=3, cols=101, p=0.5, layout="sliced", upstream="scalar"),
        Case(batch=2, rows=3, cols=101, p=0.5, upstream="transposed", dtype=BRAIN),
        Case(n=900, p=0.75, values="constant", exact=True),
        Case(n=900, p=0.0, values="heavy", exact=True),
        Case(n=200, p=0.5, values="heavy"),
        Case(n=200, p=0.9, values="large", dtype=HALF),
        Case(n=200, p=0.5, values="inf"),
        Case(rows=20, cols=20, p=0.5, values="some_minus_inf"),
        Case(n=200, p=0.5, values="nan"),
        Case(n=200, p=1.0, values="inf"),
        Case(n=300, p=0.5, calls=2),
        # 8 GB each of y and dx, of one element of x and one of dy.
        Case(n=2**32 + 2**13, p=0.5, dtype=HALF, layout="expanded", upstream="scalar", gpu=True),
    ],
    relations=[
        related(
            Case(n=1300, p=0.5),
            other=lambda x, p, seed: (x, p, seed),
            holds=same,
            name="the same seed again",
            says="The same seed drops other elements the second time: use seed and the element's number, and "
            "nothing that changes from call to call.",
        ),
        related(
            Case(n=1300, p=0.5),
            other=lambda x, p, seed: (x, p, seed + 1),
            holds=lambda one, two: not same(one, two),
            name="another seed",
            says="Another seed drops the same elements: seed does not reach the random numbers.",
        ),
        related(
            Case(n=2600, p=0.5),
            other=lambda x, p, seed: (x, p, seed + 1),
            holds=lambda one, two: not shifted(one, two),
            name="the next seed",
            says="The mask of seed + 1 is that of seed, shifted: what is added to the seed, such as the "
            "program's number, is reached from another seed too. Put it into the offset.",
        ),
        related(
            Case(n=700, p=0.5),
            other=lambda x, p, seed: (torch.cat([x, x]), p, seed),
            holds=same,
            name="a longer x",
            says="A longer x begins with another mask: the random numbers depend on the length, or on a "
            "BLOCK chosen by it. The offset of element i must be made from i alone.",
        ),
        related(
            Case(rows=6, cols=203, p=0.5),
            other=lambda x, p, seed: (x.view(203, 6), p, seed),
            holds=same,
            name="another shape",
            says="The same elements in another shape get another mask: count them in row-major order, "
            "whatever the shape.",
        ),
        related(
            Case(rows=6, cols=203, p=0.5, layout="transposed"),
            other=lambda x, p, seed: (x.contiguous(), p, seed),
            holds=same,
            name="another layout",
            says=LAYOUT,
        ),
        related(
            Case(batch=3, rows=4, cols=101, p=0.5, layout="sliced"),
            other=lambda x, p, seed: (x.contiguous(), p, seed),
            holds=same,
            name="another layout of rows",
            says=LAYOUT,
        ),
        related(
            Case(n=1200, p=0.5),
            other=lambda x, p, seed: (x.half(), p, seed),
            holds=same,
            name="another dtype",
            says="fp16 gets another mask than fp32: the random numbers depend on the dtype, or on a BLOCK "
            "chosen by it.",
        ),
    ],
    suspects={
        "The gradient is not scaled: dx is dy / (1 - p) where x was kept.": backward(
            lambda x, p, keep: torch.where(keep, x, 0)
        ),
        "The gradient of dropped elements is not 0: dx is dy / (1 - p) only where x was kept.": backward(
            lambda x, p, keep: x / (1 - p or 1)
        ),
        "dy is handed on as it is: dx is dy / (1 - p) where x was kept, and 0 elsewhere.": backward(
            lambda x, p, keep: x
        ),
        "The gradient is scaled twice.": backward(
            lambda x, p, keep: torch.where(keep, x, 0) / (1 - p or 1) ** 2
        ),
        "Kept elements are not scaled: divide them by 1 - p, and the mean of y stays that of x.": (
            lambda x, p, seed, keep: torch.where(keep, x, 0)
        ),
        "Kept elements are divided by p where 1 - p, the share that is kept, is right.": (
            lambda x, p, seed, keep: torch.where(keep, x / (p or 1), 0)
        ),
        "Kept elements are multiplied by 1 - p where they should be divided by it.": (
            lambda x, p, seed, keep: torch.where(keep, x * (1 - p), 0)
        ),
        "Dropped elements are multiplied by 0, and 0 · Inf is NaN: choose, as tl.where does.": (
            lambda x, p, seed, keep: x * keep / (1 - p or 1)
        ),
        "At p = 1 the scale 1 / (1 - p) is Inf, and 0 · Inf is NaN: choose 0, do not multiply by it.": (
            lambda x, p, seed, keep: x * keep * (1 / (1 - p) if p < 1 else torch.inf)
        ),
    },
    speed=Speed(
        big,
        moved=lambda x, p, seed: 4 * x.nbytes,
        of_torch=0.7,
        torch=lambda x, p, seed: torch.nn.functional.dropout(x, p),
        part="both",
    ),
    memory=Memory(big),
)
