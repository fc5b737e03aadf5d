"""Extra: a linear layer split over ranks, one rank at a time; its products at 0.4 of torch's speed."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Made, Speed, between
from grader.challenge.formulas.draw_one_input import holding, tensor, vector
from grader.challenge.formulas.dtypes import BRAIN, HALF


def wide(x: Tensor) -> torch.dtype:
    """fp32, or fp64 where the oracle asks."""
    return torch.promote_types(x.dtype, torch.float32)


def product(x: Tensor, w: Tensor) -> Tensor:
    """x[m, k] @ w[n, k].T, not rounded to 16 bits."""
    return x.to(wide(x)) @ w.to(wide(x)).T


def columns_inputs(case: Case, draw) -> tuple[Tensor, Tensor, Tensor]:
    """x, whole, and this rank's rows of w and b."""
    return (
        tensor(case, draw, "x", case.m, case.k),
        tensor(case, draw, "w", case.n, case.k),
        vector(case, draw, case.n),
    )


def column_parallel(x: Tensor, w_shard: Tensor, b_shard: Tensor) -> Tensor:
    return (product(x, w_shard) + b_shard).to(x.dtype)


def rows_inputs(case: Case, draw) -> tuple[Tensor, ...]:
    """This rank's columns of x and w; b; the sums of all other ranks; a place for what reduce is given."""
    x, w = tensor(case, draw, "x", case.m, case.k), tensor(case, draw, "w", case.n, case.k)
    others = [
        product(*(draw(side, case.k, layout="contiguous") for side in (case.m, case.n)))
        for _ in range(case.get("ranks", 2) - 1)
    ]
    others = holding(draw, sum(others, torch.zeros(case.m, case.n, device=x.device)))
    given = draw(case.m, case.n, dtype=torch.float32, layout="contiguous", values="normal")
    return x, w, vector(case, draw, case.n), others, given


def row_parallel(x: Tensor, w: Tensor, b: Tensor, others: Tensor, given: Tensor) -> tuple[Tensor, Tensor]:
    """What reduce is given, and the whole layer."""
    own = product(x, w)
    return own, (own + others + b).to(x.dtype)


def bias_in_each(x: Tensor, w: Tensor, b: Tensor, others: Tensor, given: Tensor) -> tuple[Tensor, Tensor]:
    own = product(x, w) + b
    return own, (own + others).to(x.dtype)


def bias_left_out(x: Tensor, w: Tensor, b: Tensor, others: Tensor, given: Tensor) -> tuple[Tensor, Tensor]:
    own = product(x, w)
    return own, (own + others).to(x.dtype)


def never_reduced(x: Tensor, w: Tensor, b: Tensor, others: Tensor, given: Tensor) -> tuple[Tensor, Tensor]:
    return given, (product(x, w) + b).to(x.dtype)


def reduced_twice(x: Tensor, w: Tensor, b: Tensor, others: Tensor, given: Tensor) -> tuple[Tensor, Tensor]:
    own = product(x, w) + others
    return own, (own + others + b).to(x.dtype)


def by_torch(x: Tensor, w: Tensor, b: Tensor, others: Tensor, given: Tensor) -> Tensor:
    """The product in fp32, the sum over ranks, the bias."""
    own = torch.mm(x, w.T, out_dtype=torch.float32) if x.is_cuda else product(x, w)
    given.copy_(own)
    return (own.add_(others) + b).to(x.dtype)


def flops(x: Tensor, w: Tensor, *_) -> int:
    return 2 * x.numel() * w.shape[0]


def rows_moved(x: Tensor, w: Tensor, b: Tensor, others: Tensor, given: Tensor) -> int:
    """Both operands, the sums in fp32 written, reduced in place and read, and the result."""
    return x.nbytes + w.nbytes + 7 * given.nbytes + x.element_size() * given.numel()


columns = Case(m=4096, k=8192, n=4096, dtype=BRAIN, gpu=True)
rows = Case(m=4096, k=4096, n=8192, dtype=BRAIN, gpu=True)

CASES = [
    Case(m=1, k=1, n=1),
    Case(m=0, k=4, n=5),
    Case(m=5, k=4, n=0),
    Case(m=16, k=16, n=16),
    Case(m=5, k=17, n=7),
    Case(m=48, k=64, n=48),
    Case(m=between(33, 47), k=between(97, 110), n=between(67, 79)),
    Case(m=64, k=32, n=128, dtype=HALF),
    Case(m=65, k=63, n=129, dtype=HALF),
    Case(m=65, k=63, n=129, dtype=BRAIN),
    Case(m=9, k=515, n=20, dtype=HALF),
    Case(m=40, k=50, n=70, layout="sliced"),
    Case(m=40, k=50, n=70, layout="transposed", dtype=HALF),
    Case(m=40, k=50, n=70, layout="transposed", x_layout="contiguous"),
    Case(m=40, k=50, n=70, layout="offset", dtype=BRAIN),
    Case(m=40, k=50, n=70, values="integers", exact=True),
    Case(m=40, k=50, n=70, values="heavy"),
    Case(m=40, k=50, n=70, values="nan"),
    Case(m=40, k=50, n=70, calls=2),
]

challenge = [
    Challenge(
        entry="column_parallel",
        inputs=columns_inputs,
        reference=column_parallel,
        suspects={
            "The bias is left out: a rank adds it to the columns that are its own.": lambda x, w, b: product(
                x, w
            ).to(x.dtype),
        },
        cases=CASES,
        speed=Speed(
            columns,
            moved=lambda x, w, b: x.nbytes + w.nbytes + b.nbytes,
            of_torch=0.4,
            flops=flops,
            torch=lambda x, w, b: torch.nn.functional.linear(x, w, b),
        ),
    ),
    Challenge(
        entry="row_parallel",
        inputs=rows_inputs,
        reference=row_parallel,
        made=[Made(3, "all_reduce", 2)],
        writes=(4,),
        suspects={
            "The bias is in what reduce is given: each rank adds it, so the sum has it once for each rank.": (
                bias_in_each
            ),
            "The bias is left out: it is added once, to the sum over all ranks.": bias_left_out,
            "reduce is never called: what comes back is this rank's part alone.": never_reduced,
            "reduce is called twice: the other ranks' part is in the result two times.": reduced_twice,
        },
        cases=[*CASES, Case(m=12, k=20, n=30, ranks=4), Case(m=12, k=20, n=30, ranks=8, dtype=BRAIN)],
        speed=Speed(rows, moved=rows_moved, of_torch=0.4, flops=flops, torch=by_torch),
    ),
]
