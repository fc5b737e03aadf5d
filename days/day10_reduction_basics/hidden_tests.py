"""Day 10: the sum of a vector of any length, in fp32, at 0.70 of the rate of a copy."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.challenge import Case, Challenge, Piece, Speed, between
from grader.challenge.formulas.block_bounds import whole_blocks
from grader.challenge.formulas.dtypes import HALF

SIGNED = ("integers", "some_minus_inf")


def inputs(case: Case, draw) -> tuple[torch.Tensor]:
    """x[n], all positive unless the sum is exact: terms that cancel would leave nothing but rounding."""
    x = draw(case.n)
    return (x if case.values in SIGNED else x.abs_(),)


def of_blocks(block: int) -> dict[str, Callable[[torch.Tensor], torch.Tensor]]:
    """What goes wrong from the second block on, for a kernel with blocks of this length."""
    return {
        f"Only the first {block} elements count: what follows them is in no sum that is read.": (
            lambda x: x[:block].sum()
        ),
        f"Each program adds up the same {block} elements: its number must move its block.": (
            lambda x: x[:block].sum() * -(-len(x) // block)
        ),
        f"What follows the last whole block of {block} is left out: round the number of blocks up.": (
            lambda x: x[: whole_blocks(len(x), block)].sum()
        ),
        f"What follows the last whole block of {block} is left out, if there is one: round the number of "
        "blocks up.": lambda x: x[: max(whole_blocks(len(x), block), block)].sum(),
    }


BLOCKS = [2**i for i in range(20, 6, -1)]
big = Case(n=2**27)

CASES = [
    Case(n=8),
    Case(n=1),
    Case(n=0),
    Case(n=127),
    Case(n=128),
    Case(n=129),
    Case(n=1023),
    Case(n=1024),
    Case(n=1025),
    Case(n=4099),
    Case(n=1536),
    Case(n=1056),
    Case(n=16383),
    Case(n=16384),
    Case(n=between(16_900, 17_400)),
    Case(n=73529),
    Case(n=100003),
    Case(n=500, dtype=HALF),
    Case(n=5003, dtype=HALF),
    Case(n=40009, dtype=HALF),
    Case(n=333, layout="offset"),
    Case(n=333, layout="offset", dtype=HALF),
    Case(n=1000, values="integers", exact=True),
    Case(n=3001, values="integers", exact=True),
    Case(n=16385, values="constant", exact=True),
    Case(n=65537, values="constant", exact=True),
    Case(n=70001, values="integers", exact=True),
    Case(n=70001, values="integers", dtype=HALF, exact=True),
    Case(n=1050011, values="integers", exact=True),
    Case(n=3001, values="constant", dtype=HALF, exact=True),
    Case(n=600, values="zeros"),
    Case(n=600, values="spike"),
    Case(n=1601, values="heavy"),
    Case(n=1601, values="large"),
    Case(n=1601, values="large", dtype=HALF),
    Case(n=900, values="inf"),
    Case(n=900, values="some_minus_inf"),
    Case(n=900, values="nan"),
    Case(n=700, calls=2),
    Case(n=50021, calls=2),
    Case(n=2**26 + 5, values="integers", exact=True, gpu=True),
    Case(n=3 * 2**30 + 77, dtype=HALF, huge=True),
]

challenge = Challenge(
    entry="total",
    inputs=inputs,
    reference=lambda x: x.sum(),
    returns=torch.float32,
    requires=("degenerate_sizes",),
    reduces=lambda case: case.n,
    shown=Case(n=73529),
    cases=CASES,
    suspects={told: wrong for block in BLOCKS for told, wrong in of_blocks(block).items()},
    # Only reading counts: the partial sums are next to nothing.
    pieces=(
        Piece("reads of x", "sum_blocks_kernel", by="loads", reads=("x_ptr",)),
        Piece("sums of blocks", "sum_blocks_kernel", results=(0,)),
        Piece("bounds", "sum_blocks_kernel", by="bounds"),
        Piece("launcher and stages", "total"),
    ),
    speed=Speed(big, moved=lambda x: x.nbytes, of_copy=0.70),
)
