"""Extra: a @ b in fp32 by plain multiplications and sums, at 0.07 of torch's speed."""

from __future__ import annotations

from torch import Tensor

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.block_bounds import BLOCKS, last_block, whole_blocks
from grader.challenge.formulas.matmul import flops, moved, operands
from grader.challenge.formulas.stride_suspects import swapped_strides

big = Case(m=2048, n=2048, k=2048, gpu=True)

CASES = [
    Case(m=4, n=8, k=3),
    Case(m=1, n=1, k=1),
    Case(m=0, n=8, k=4),
    Case(m=8, n=0, k=4),
    Case(m=8, n=9, k=0),
    Case(m=5, n=7, k=15),
    Case(m=7, n=5, k=16),
    Case(m=9, n=20, k=17),
    Case(m=16, n=128, k=8),
    Case(m=31, n=33, k=32),
    Case(m=63, n=65, k=20),
    Case(m=64, n=128, k=31),
    Case(m=130, n=60, k=9),
    Case(m=1, n=300, k=40),
    Case(m=300, n=1, k=40),
    Case(m=3, n=257, k=127),
    Case(m=between(66, 79), n=between(98, 111), k=between(33, 47)),
    Case(m=7, n=11, k=1009),
    Case(m=40, n=70, k=50, layout="transposed"),
    Case(m=40, n=70, k=50, layout="transposed", b_layout="contiguous"),
    Case(m=40, n=70, k=50, layout="columns", a_layout="contiguous"),
    Case(m=40, n=70, k=51, layout="sliced", b_layout="strided"),
    Case(m=41, n=71, k=51, layout="strided", b_layout="offset"),
    Case(m=40, n=70, k=50, layout="expanded"),
    # Sides of 1, whose strides are not those of a packed matrix.
    Case(m=1, n=20, k=40, layout="columns"),
    Case(m=20, n=1, k=40, layout="sliced"),
    Case(m=30, n=20, k=1, layout="sliced", b_layout="columns"),
    Case(m=50, n=60, k=70, values="integers", exact=True),
    Case(m=30, n=40, k=100, values="large"),
    Case(m=30, n=40, k=100, values="heavy"),
    Case(m=30, n=40, k=100, values="zeros"),
    Case(m=30, n=40, k=50, values="nan", b_values="normal"),
    Case(m=50, n=50, k=20, calls=2),
]


def without_tail(block: int):
    return lambda a, b: a[:, : whole_blocks(a.shape[1], block)] @ b[: whole_blocks(a.shape[1], block)]


def last_alone(block: int):
    return lambda a, b: a[:, last_block(a.shape[1], block) :] @ b[last_block(a.shape[1], block) :]


def first_piece(block: int):
    """Products of the first piece of a and of b, as often as there are pieces."""
    return lambda a, b: a[:, :block] @ b[:block] * -(-a.shape[1] // block)


def last_product(a: Tensor, b: Tensor) -> Tensor:
    """The last column of a times the last row of b."""
    return a[:, -1:] @ b[-1:]


SUSPECTS = {
    "a is read with its two strides swapped.": lambda a, b: swapped_strides(a) @ b,
    "b is read with its two strides swapped.": lambda a, b: a @ swapped_strides(b),
    "The last product alone counts: add it to those before.": last_product,
}
for block in (4, 8, *BLOCKS):
    SUSPECTS[f"Along k whole blocks of {block} are counted: the last, partial one is left out."] = (
        without_tail(block)
    )
    SUSPECTS[f"Along k the last block of {block} alone counts: each overwrites the sum of those before."] = (
        last_alone(block)
    )
    SUSPECTS[f"Every turn along k takes the first piece of {block}: its offsets do not move on."] = (
        first_piece(block)
    )

challenge = Challenge(
    entry="matmul",
    inputs=operands,
    reference=lambda a, b: a @ b,
    reduces=lambda case: case.k,
    suspects=SUSPECTS,
    shown=Case(m=63, n=65, k=20),
    cases=CASES,
    speed=Speed(big, moved=moved, flops=flops, of_torch=0.07),
    memory=Memory(big),
)
