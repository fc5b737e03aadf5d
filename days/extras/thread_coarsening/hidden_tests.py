"""Extra: a @ b by programs of several tiles, as many as the caller says; at 0.35 of torch's speed."""

from __future__ import annotations

from torch import Tensor

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.block_bounds import BLOCKS, last_block, whole_blocks
from grader.challenge.formulas.draw_one_input import tensor
from grader.challenge.formulas.dtypes import HALF
from grader.challenge.formulas.matmul import flops, overflow
from grader.challenge.formulas.matmul import moved as product_moved


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, int, int]:
    """a[m, k], b[k, n], block and coarse; with `overflows`, sums leave fp16 on the way and come back."""
    a, b = tensor(case, draw, "a", case.m, case.k), tensor(case, draw, "b", case.k, case.n)
    if "overflows" in case:
        overflow(a, b)
    return a, b, case.block, case.coarse


def ceil(length: int, block: int) -> int:
    return -(-length // block)


def programs(a: Tensor, b: Tensor, block: int, coarse: int) -> int:
    """One for every block rows and block * coarse columns of the result."""
    return ceil(a.shape[0], block) * ceil(b.shape[1], block * coarse)


def moved(a: Tensor, b: Tensor, block: int, coarse: int) -> int:
    return product_moved(a, b)


big = Case(m=4096, n=4096, k=4096, block=64, coarse=4, dtype=HALF, gpu=True)

CASES = [
    Case(m=16, n=16, k=16, block=16, coarse=1, dtype=HALF),
    Case(m=1, n=1, k=1, block=16, coarse=1, values="integers", exact=True, dtype=HALF),
    Case(m=0, n=8, k=4, block=16, coarse=2, dtype=HALF),
    Case(m=8, n=0, k=4, block=16, coarse=2, dtype=HALF),
    Case(m=8, n=9, k=0, block=16, coarse=4, dtype=HALF),
    Case(m=5, n=7, k=3, block=16, coarse=4, dtype=HALF),
    Case(m=16, n=64, k=16, block=16, coarse=4, dtype=HALF),
    Case(m=17, n=65, k=33, block=16, coarse=4, dtype=HALF),
    Case(m=15, n=31, k=31, block=16, coarse=2, dtype=HALF),
    Case(m=40, n=50, k=64, block=16, coarse=1, dtype=HALF),
    Case(m=32, n=129, k=65, block=32, coarse=4, dtype=HALF),
    Case(m=33, n=63, k=40, block=32, coarse=2, dtype=HALF),
    Case(m=70, n=30, k=50, block=32, coarse=1, dtype=HALF),
    Case(m=64, n=256, k=20, block=64, coarse=4, dtype=HALF),
    Case(m=65, n=257, k=32, block=64, coarse=4, dtype=HALF),
    Case(m=63, n=130, k=129, block=64, coarse=2, dtype=HALF),
    Case(m=100, n=70, k=60, block=64, coarse=1, dtype=HALF),
    Case(m=128, n=128, k=40, block=128, coarse=1, dtype=HALF),
    Case(m=129, n=255, k=33, block=128, coarse=2, dtype=HALF),
    Case(m=90, n=513, k=20, block=128, coarse=4, dtype=HALF),
    # More than two strips, each of several blocks: strips that begin a block apart leave columns out.
    Case(m=20, n=1537, k=16, block=128, coarse=4, dtype=HALF),
    Case(m=between(66, 79), n=between(194, 222), k=between(97, 111), block=32, coarse=4, dtype=HALF),
    Case(m=7, n=11, k=2003, block=16, coarse=2, dtype=HALF),
    Case(m=5, n=70, k=512, block=16, coarse=4, values="negative", overflows=True, dtype=HALF),
    Case(m=40, n=70, k=50, block=32, coarse=2, layout="offset", dtype=HALF),
    Case(m=40, n=150, k=50, block=16, coarse=4, values="integers", exact=True, dtype=HALF),
    Case(m=40, n=150, k=50, block=128, coarse=4, values="integers", exact=True, dtype=HALF),
    Case(m=30, n=70, k=100, block=16, coarse=2, values="heavy", dtype=HALF),
    Case(m=30, n=70, k=100, block=32, coarse=4, values="zeros", dtype=HALF),
    Case(m=30, n=70, k=50, block=16, coarse=4, values="nan", dtype=HALF),
    Case(m=50, n=90, k=20, block=16, coarse=2, calls=2, dtype=HALF),
]


def without_tail(size: int):
    """a @ b without what is left of k behind whole pieces of that size."""
    return lambda a, b, *_: a[:, : whole_blocks(a.shape[1], size)] @ b[: whole_blocks(a.shape[1], size)]


def last_alone(size: int):
    return lambda a, b, *_: a[:, last_block(a.shape[1], size) :] @ b[last_block(a.shape[1], size) :]


def summed_on(a: Tensor, b: Tensor, block: int, coarse: int) -> Tensor:
    """The sums of a program's tiles are never begun anew: each holds those to its left in the strip, too."""
    c = a @ b
    for first in range(block, c.shape[1], block):
        if first % (block * coarse):
            width = min(block, c.shape[1] - first)
            c[:, first : first + width] += c[:, first - block : first - block + width]
    return c


def first_tile(a: Tensor, b: Tensor, block: int, coarse: int) -> Tensor:
    """Every tile of a program is its first one."""
    columns = [j // (block * coarse) * block * coarse + j % block for j in range(b.shape[1])]
    return (a @ b)[:, columns]


SUSPECTS = {
    "The sums are not begun anew for each tile of a strip: each holds the one to its left, too.": summed_on,
    "Every tile of a program is computed as its first one: its columns do not move on.": first_tile,
}
for size in BLOCKS:
    SUSPECTS[f"Along k whole blocks of {size} are counted: the last, partial one is left out."] = (
        without_tail(size)
    )
    SUSPECTS[f"Along k the last block of {size} alone counts: each overwrites the sum of those before."] = (
        last_alone(size)
    )


def product(a: Tensor, b: Tensor, *_: int) -> Tensor:
    return a @ b


def work(a: Tensor, b: Tensor, *_: int) -> int:
    return flops(a, b)


challenge = Challenge(
    entry="matmul_coarse",
    inputs=inputs,
    reference=product,
    programs=programs,
    suspects=SUSPECTS,
    shown=Case(m=65, n=257, k=32, block=64, coarse=4, dtype=HALF),
    cases=CASES,
    speed=Speed(big, moved=moved, flops=work, of_torch=0.35),
    memory=Memory(big),
)
