"""Extra: an embedding and its gradient; forward at 0.60 of a plain copy, backward at 0.50 of torch's."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Gradients, Speed, between
from grader.challenge.formulas.draw_one_input import shape_of
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS, embedding


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, int]:
    """weight, ids, padding_idx. With `used` only so many rows are asked for, so that ids repeat.

    The padded row is asked for at least once, the last one too.
    """
    padding = case.get("padding", -1)
    ids = draw.integers(*shape_of(case, "a", "b", "n"), low=0, high=case.get("used", case.v))
    flat = ids.view(-1)
    flat[:1] = case.v - 1 if padding < 0 else padding
    flat[1:2] = case.v - 1 if "used" not in case else 0
    return draw(case.v, case.d), ids, padding


def reference(weight: Tensor, ids: Tensor, padding_idx: int) -> Tensor:
    """torch's, whose gradient is added up in fp32 or wider: in 16 bits torch's own sums stagnate on a CPU."""
    return embedding(weight.to(torch.promote_types(weight.dtype, torch.float32)), ids, padding_idx).to(
        weight.dtype
    )


def tokens(case: Case) -> int:
    return max(case.get("a", 1) * case.get("b", 1) * case.get("n", 1), 1)


def looked_up(weight: Tensor, ids: Tensor, _: int) -> int:
    return ids.nbytes + 2 * ids.numel() * weight.shape[1] * weight.element_size()


def scattered(weight: Tensor, ids: Tensor, _: int) -> int:
    return ids.nbytes + ids.numel() * weight.shape[1] * weight.element_size() + weight.nbytes


wide = Case(n=65536, v=128256, d=4096, dtype=BRAIN, gpu=True)

CASES = [
    Case(n=3, v=5, d=8),
    Case(v=5, d=8),
    Case(n=1, v=1, d=1),
    Case(n=0, v=5, d=8),
    Case(n=7, v=9, d=1),
    Case(n=40, v=9, d=33),
    Case(n=20, v=300, d=7),
    # Ids that int16 does not hold; as many programs, one a row, are for a GPU.
    Case(n=20, v=40_000, d=3, gpu=True),
    Case(b=4, n=6, v=11, d=16),
    Case(a=2, b=3, n=5, v=11, d=12),
    Case(n=9, v=20, d=127),
    Case(n=9, v=20, d=128),
    Case(n=9, v=20, d=129),
    Case(n=5, v=6, d=1025),
    Case(n=3, v=6, d=4099),
    Case(n=513, v=70, d=9),
    Case(n=30, v=12, d=20, padding=3),
    Case(n=30, v=12, d=20, padding=0),
    Case(n=30, v=12, d=20, padding=11),
    Case(b=3, n=10, v=12, d=20, padding=5, dtype=HALF),
    Case(n=between(50, 70), v=12, d=20, used=3),
    Case(n=60, v=12, d=20, dtype=HALF),
    Case(n=48, v=48, d=20, dtype=HALF),
    Case(n=96, v=96, d=20, dtype=HALF),
    Case(n=60, v=12, d=20, dtype=BRAIN),
    Case(n=20, v=300, d=33, dtype=BRAIN),
    Case(n=600, v=3, d=6, used=1, dtype=HALF),
    Case(n=600, v=3, d=6, used=1, dtype=BRAIN),
    Case(n=20, v=12, d=20, layout="sliced"),
    Case(n=20, v=12, d=24, layout="padded", dtype=HALF, padding=2),
    Case(n=20, v=12, d=20, layout="offset"),
    Case(n=20, v=12, d=20, layout="offset", dtype=BRAIN),
    Case(n=20, v=12, d=20, layout="expanded"),
    Case(n=20, v=12, d=20, values="large"),
    Case(n=20, v=12, d=20, values="inf"),
    Case(n=20, v=12, d=20, values="nan", padding=3),
    Case(n=20, v=12, d=20, upstream="sliced"),
    Case(n=20, v=12, d=20, upstream="transposed"),
    Case(b=4, n=5, v=12, d=20, upstream="transposed", dtype=BRAIN),
    Case(a=2, b=4, n=5, v=12, d=20, upstream="strided"),
    Case(a=2, b=4, n=5, v=12, d=20, upstream="expanded"),
    Case(a=2, b=4, n=5, v=12, d=20, upstream="sliced", padding=4),
    Case(b=4, n=5, v=12, d=20, upstream="scalar"),
    Case(v=12, d=20, upstream="strided"),
    Case(n=20, v=12, d=20, calls=2),
    Case(n=20, v=12, d=20, calls=2, dtype=HALF, padding=2),
    Case(n=65536, v=50, d=64, dtype=BRAIN, gpu=True),
    Case(n=530_001, v=9, d=4099, dtype=HALF, huge=True),
    Case(n=530_001, v=9, d=4099, dtype=HALF, upstream="transposed", huge=True),
    Case(n=9, v=530_001, d=4099, dtype=HALF, huge=True),
    Case(n=2100, v=2100, d=20, layout="far", upstream="far", dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(n=2501, v=9, d=5),
]

challenge = Challenge(
    entry="embedding",
    inputs=inputs,
    reference=reference,
    reduces=tokens,
    no_host_reads=True,
    gradients=Gradients(of=(0,), saved=lambda weight, ids, _: ids.nbytes),
    suspects=SUSPECTS,
    shown=Case(n=40, v=9, d=33),
    cases=CASES,
    speed=[
        Speed(wide, moved=looked_up, torch=embedding, of_copy=0.60, sweep=("n",)),
        # torch does not move as few bytes as one can: half of its speed leaves room for a table in fp32.
        Speed(wide, moved=scattered, torch=embedding, of_copy=0.18, of_torch=0.50, part="backward"),
    ],
)
