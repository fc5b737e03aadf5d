"""Extra: products of two batches of matrices, in one launch; at 0.45 of torch's speed."""

from __future__ import annotations

from torch import Tensor

from grader.challenge import Case, Challenge, Memory, Own, Speed, between
from grader.challenge.formulas.block_bounds import BLOCKS, last_block, whole_blocks
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.matmul import overflow
from grader.challenge.formulas.stride_suspects import through

BATCH_LAST = Own("batch_last")  # matrices interleaved element by element: their batch stride is 1


def inputs(case: Case, draw) -> tuple[Tensor, Tensor]:
    """a[g, m, k] and b[g, k, n]; `b_layout` and the like make one of them differ from the case.

    Where `batch_last`, matrices are interleaved element by element. With `overflows`, sums leave fp16 on
    the way and come back.
    """
    a, b = _drawn(case, draw, "a", case.m, case.k), _drawn(case, draw, "b", case.k, case.n)
    if "overflows" in case:
        for one, other in zip(a, b, strict=True):
            overflow(one, other)
    return a, b


def _drawn(case: Case, draw, which: str, rows: int, cols: int) -> Tensor:
    layout, values = case.get(f"{which}_layout", case.layout), case.get(f"{which}_values", case.values)
    if layout == BATCH_LAST:
        return draw(rows, cols, case.g, layout="contiguous", values=values).permute(2, 0, 1)
    return draw(case.g, rows, cols, layout=layout, values=values)


def moved(a: Tensor, b: Tensor) -> int:
    return a.nbytes + b.nbytes + a.shape[0] * a.shape[1] * b.shape[2] * a.element_size()


big = Case(g=64, m=1024, k=1024, n=1024, dtype=HALF, gpu=True)

CASES = [
    Case(g=2, m=16, k=16, n=16),
    Case(g=1, m=1, k=1, n=1),
    Case(g=0, m=3, k=4, n=5),
    Case(g=3, m=0, k=4, n=5),
    Case(g=3, m=4, k=5, n=0),
    Case(g=3, m=4, k=0, n=5),
    Case(g=2, m=2, k=3, n=4),
    Case(g=40, m=1, k=5, n=1),
    Case(g=3, m=15, k=31, n=17),
    Case(g=3, m=17, k=32, n=15),
    Case(g=2, m=20, k=33, n=9),
    Case(g=2, m=48, k=48, n=48),
    Case(g=2, m=96, k=96, n=96, dtype=HALF),
    Case(g=2, m=9, k=63, n=20),
    Case(g=2, m=9, k=64, n=20),
    Case(g=2, m=9, k=65, n=20),
    Case(g=2, m=64, k=40, n=64),
    Case(g=2, m=65, k=20, n=130),
    Case(g=2, m=150, k=100, n=40),
    Case(g=2, m=5, k=between(482, 510), n=7),
    Case(g=3, m=40, k=50, n=30, dtype=HALF),
    Case(g=2, m=129, k=65, n=257, dtype=HALF),
    Case(g=2, m=257, k=70, n=130, dtype=BRAIN),
    Case(g=2, m=5, k=512, n=7, values="negative", overflows=True, dtype=HALF),
    Case(g=70_001, m=1, k=16, n=1, gpu=True, demand="grid_axes"),
    Case(g=3, m=20, k=40, n=30, layout="transposed"),
    Case(g=3, m=20, k=40, n=30, layout="columns", dtype=HALF),
    Case(g=2, m=72, k=40, n=136, layout="padded", dtype=HALF),
    Case(g=3, m=20, k=40, n=30, layout="transposed", a_layout="contiguous", dtype=BRAIN),
    Case(g=3, m=20, k=41, n=30, layout="sliced"),
    Case(g=3, m=20, k=41, n=30, layout="strided", b_layout="contiguous"),
    Case(g=3, m=1, k=40, n=1, layout="strided"),
    Case(g=2, m=9, k=1, n=7, layout="strided"),
    Case(g=3, m=20, k=41, n=30, layout="offset", dtype=HALF),
    Case(g=4, m=20, k=40, n=30, layout="expanded", b_layout="contiguous"),
    Case(g=4, m=20, k=40, n=30, layout="expanded", a_layout="contiguous", dtype=HALF),
    Case(g=4, m=20, k=40, n=30, layout="expanded"),
    Case(g=3, m=20, k=40, n=30, layout=BATCH_LAST),
    Case(g=3, m=20, k=40, n=30, layout=BATCH_LAST, b_layout="transposed", dtype=HALF),
    Case(g=3, m=30, k=100, n=20, values="integers", exact=True),
    Case(g=3, m=30, k=20, n=20, values="integers", dtype=HALF, exact=True),
    Case(g=2, m=30, k=100, n=20, values="constant"),
    Case(g=2, m=30, k=100, n=20, values="large"),
    Case(g=2, m=30, k=100, n=20, values="heavy"),
    Case(g=2, m=30, k=100, n=20, values="inf", b_values="normal"),
    Case(g=2, m=30, k=100, n=20, values="nan", b_values="normal"),
    Case(g=2, m=30, k=100, n=20, values="nan", a_values="zeros"),
    Case(g=3, m=30, k=50, n=20, calls=2),
    # More matrices than axes 1 and 2 of a grid take; then a, b and c beyond 2³¹ elements, of all and of one:
    # of that fewer than 2³², and no matrix in front, or a wrapped offset would lie in the tensor again.
    Case(g=70_000, m=1, k=16, n=1, huge=True),
    Case(g=41, m=8192, k=8192, n=17, dtype=HALF, huge=True),
    Case(g=41, m=17, k=8192, n=8192, dtype=HALF, huge=True),
    Case(g=41, m=8192, k=17, n=8192, dtype=HALF, huge=True),
    Case(g=1, m=700_001, k=4096, n=9, dtype=HALF, huge=True),
    Case(g=1, m=700_001, k=4096, n=9, dtype=HALF, layout="transposed", huge=True),
    Case(g=1, m=9, k=4096, n=700_001, dtype=HALF, huge=True),
    Case(g=1, m=9, k=4096, n=700_001, dtype=HALF, layout="transposed", huge=True),
    Case(g=1, m=50_001, k=20, n=50_003, dtype=HALF, huge=True),
    Case(g=2, m=1100, k=1100, n=9, layout="far", dtype=HALF, huge=True),
]

SUSPECTS = {
    "Every product takes matrix 0 of a: the batch stride of a is left out.": lambda a, b: a[:1] @ b,
    "Every product takes matrix 0 of b: the batch stride of b is left out.": lambda a, b: a @ b[:1],
    "Every product is that of matrices 0: both batch strides are left out.": lambda a, b: (
        a[:1] @ b[:1]
    ).expand(len(a), -1, -1),
    "a is read with the batch stride of b.": lambda a, b: through((b.stride(0), *a.stride()[1:]), a) @ b,
    "b is read with the batch stride of a.": lambda a, b: a @ through((a.stride(0), *b.stride()[1:]), b),
}


def without_tail(block: int):
    return lambda a, b: a[..., : whole_blocks(a.shape[2], block)] @ b[:, : whole_blocks(a.shape[2], block)]


def last_alone(block: int):
    return lambda a, b: a[..., last_block(a.shape[2], block) :] @ b[:, last_block(a.shape[2], block) :]


for block in BLOCKS:
    SUSPECTS[f"Along k whole blocks of {block} are counted: the last, partial one is left out."] = (
        without_tail(block)
    )
    SUSPECTS[f"Along k the last block of {block} alone counts: each overwrites the sum of those before."] = (
        last_alone(block)
    )

challenge = Challenge(
    entry="bmm",
    inputs=inputs,
    reference=lambda a, b: a @ b,
    reduces=lambda case: case.k,
    suspects=SUSPECTS,
    shown=Case(g=2, m=65, k=20, n=130),
    cases=CASES,
    speed=Speed(big, moved=moved, flops=lambda a, b: 2 * a.numel() * b.shape[2], of_torch=0.45),
    memory=Memory(big),
)
