"""Extra: a times the transpose of b, read along memory and turned on the chip; at 0.4 of torch's speed."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.block_bounds import BLOCKS, last_block, whole_blocks
from grader.challenge.formulas.draw_one_input import tensor
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.matmul import overflow
from grader.challenge.formulas.stride_suspects import swapped_strides


def inputs(case: Case, draw) -> tuple[Tensor, Tensor]:
    """a[m, k] and b[n, k]; `b_layout` and the like make one of them differ from the case.

    With `overflows`, sums leave fp16 on the way and come back.
    """
    a, b = tensor(case, draw, "a", case.m, case.k), tensor(case, draw, "b", case.n, case.k)
    if "overflows" in case:
        overflow(a, b.mT)
    return a, b


def moved(a: Tensor, b: Tensor) -> int:
    """Bytes of a, b and their product, each moved once."""
    return a.nbytes + b.nbytes + a.shape[0] * b.shape[0] * a.element_size()


big = Case(m=4096, n=4096, k=4096, dtype=HALF, gpu=True)

CASES = [
    Case(m=16, n=16, k=16, dtype=HALF),
    Case(m=1, n=1, k=1, values="integers", exact=True, dtype=HALF),
    Case(m=0, n=8, k=4, dtype=HALF),
    Case(m=8, n=0, k=4, dtype=HALF),
    Case(m=8, n=9, k=0, dtype=BRAIN),
    Case(m=2, n=4, k=3, dtype=HALF),
    Case(m=5, n=7, k=31, dtype=BRAIN),
    Case(m=7, n=5, k=33, dtype=HALF),
    Case(m=63, n=65, k=32, dtype=HALF),
    Case(m=65, n=63, k=64, dtype=BRAIN),
    Case(m=48, n=48, k=48, dtype=HALF),
    Case(m=20, n=9, k=129, dtype=HALF),
    Case(m=1, n=130, k=200, dtype=BRAIN),
    Case(m=130, n=1, k=60, dtype=HALF),
    Case(m=between(66, 79), n=between(194, 222), k=between(97, 111), dtype=HALF),
    Case(m=128, n=128, k=128, dtype=HALF),
    Case(m=129, n=257, k=65, dtype=BRAIN),
    Case(m=7, n=11, k=2003, dtype=HALF),
    Case(m=5, n=7, k=512, values="negative", overflows=True, dtype=HALF),
    Case(m=40, n=70, k=50, layout="transposed", dtype=HALF),
    Case(m=40, n=70, k=50, layout="transposed", a_layout="contiguous", dtype=BRAIN),
    Case(m=40, n=70, k=50, layout="transposed", b_layout="contiguous", dtype=HALF),
    Case(m=136, n=264, k=72, layout="columns", a_layout="padded", dtype=HALF),
    Case(m=40, n=70, k=50, layout="offset", dtype=HALF),
    Case(m=41, n=71, k=51, layout="sliced", dtype=BRAIN),
    Case(m=40, n=70, k=50, layout="strided", dtype=HALF),
    Case(m=40, n=70, k=50, layout="expanded", a_layout="contiguous", dtype=HALF),
    # Sides of 1, whose strides are not those of a packed matrix.
    Case(m=1, n=20, k=40, layout="columns", dtype=HALF),
    Case(m=20, n=1, k=40, layout="sliced", dtype=HALF),
    Case(m=30, n=20, k=1, layout="sliced", b_layout="columns", dtype=HALF),
    Case(m=70, n=90, k=40, values="integers", exact=True, dtype=HALF),
    Case(m=30, n=40, k=200, values="large", dtype=BRAIN),
    Case(m=30, n=40, k=200, values="heavy", dtype=HALF),
    Case(m=30, n=40, k=150, values="zeros", dtype=HALF),
    Case(m=30, n=40, k=150, values="nan", dtype=HALF),
    Case(m=50, n=50, k=50, calls=2, dtype=HALF),
]


def not_turned(a: Tensor, b: Tensor) -> Tensor:
    """a @ b, where b is square and torch does not object; zeros else."""
    square = b.shape[0] == b.shape[1]
    return a @ b if square else torch.zeros_like(a @ b.mT)


def first_piece(block: int):
    """a times the first piece of b, over and over."""
    return lambda a, b: a @ b[:, torch.arange(b.shape[1], device=b.device) % block].mT


def without_tail(block: int):
    return lambda a, b: a[:, : whole_blocks(a.shape[1], block)] @ b[:, : whole_blocks(a.shape[1], block)].mT


def last_alone(block: int):
    return lambda a, b: a[:, last_block(a.shape[1], block) :] @ b[:, last_block(a.shape[1], block) :].mT


SUSPECTS = {
    "b is not turned: this is a @ b, and a @ b.T is asked for.": not_turned,
    "a is read with its two strides swapped.": lambda a, b: swapped_strides(a) @ b.mT,
    "b is read with its two strides swapped.": lambda a, b: a @ swapped_strides(b).mT,
}
for block in BLOCKS:
    SUSPECTS[f"Along k whole blocks of {block} are counted: the last, partial one is left out."] = (
        without_tail(block)
    )
    SUSPECTS[f"Along k the last block of {block} alone counts: each overwrites the sum of those before."] = (
        last_alone(block)
    )
    SUSPECTS[f"Every turn along k takes the first piece of {block} of b: its pointers do not move on."] = (
        first_piece(block)
    )

challenge = Challenge(
    entry="matmul_nt",
    inputs=inputs,
    reference=lambda a, b: a @ b.mT,
    suspects=SUSPECTS,
    shown=Case(m=129, n=257, k=65, dtype=BRAIN),
    cases=CASES,
    speed=Speed(big, moved=moved, flops=lambda a, b: 2 * a.numel() * b.shape[0], of_torch=0.4),
    memory=Memory(big),
)
