"""Extra: FP8 codes, and a scale for each row or block; 0.75 and 0.50 of a copy that moves as many bytes."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF, SINGLE
from grader.challenge.formulas.float8 import codes, halfway, nearly, tied

from .suspects import SUSPECTS


def inputs(case: Case, draw) -> tuple[Tensor, int]:
    """x and the block's length. `size=` multiplies x, `blank=True` makes every third block zero.

    An exact case has scales of 1/8, quotients that are codes, and some that lie halfway between two.
    """
    x = draw(case.rows, case.cols)
    blocks = x.unflatten(1, (case.cols // case.block, case.block))
    if case.exact:
        picks = draw.integers(*blocks.shape, low=0, high=126)
        signs = 2 * draw.integers(*blocks.shape, low=0, high=2) - 1
        blocks.copy_(signs * halfway(picks) / 8)
        blocks[..., -1] = 448 / 8
    if "size" in case:
        x *= case.size
    if "blank" in case:
        blocks.flatten(0, 1)[::3] = 0.0
    if x.itemsize == 2 and not case.exact and not case.gpu:
        # Quotients of numbers of few bits are near ties by the dozen, once a block's largest suits them.
        blocks.masked_fill_(tied(blocks.double() / scales(blocks.double()).double()[..., None]), 0.0)
    return x, case.block


def reference(x: Tensor, block: int) -> tuple[Tensor, Tensor]:
    """x is divided by the scale as it is stored, in fp32."""
    blocks = x.double().unflatten(1, (x.shape[1] // block, block))
    scale = scales(blocks)
    return codes(blocks / scale.double()[..., None]).flatten(1), scale


def scales(blocks: Tensor) -> Tensor:
    """fp32 scales of blocks[…, n], fp64."""
    amax = blocks.abs().amax(dim=-1)
    return torch.where(amax > 0, amax / 448, 1.0).to(SINGLE)


def near_tie(got: Tensor, x: Tensor, block: int) -> Tensor:
    """A code is right if it is the nearest to nearly the exact quotient: divisions are off by 2 ulp."""
    blocks = x.double().unflatten(1, (x.shape[1] // block, block))
    return nearly(got, (blocks / scales(blocks).double()[..., None]).flatten(1))


def moved(x: Tensor, block: int) -> int:
    """x is read, a byte an element and 4 a block are written."""
    return x.nbytes + x.numel() + 4 * (x.numel() // block)


tokens = Case(rows=16384, cols=4096, block=4096, dtype=BRAIN, gpu=True)
tiles = Case(rows=16384, cols=4096, block=128, dtype=BRAIN, gpu=True)

CASES = [
    Case(rows=3, cols=8, block=8),
    Case(rows=1, cols=1, block=1),
    Case(rows=4, cols=5, block=1),
    Case(rows=0, cols=8, block=4),
    Case(rows=2, cols=12, block=4),
    Case(rows=3, cols=21, block=7),
    Case(rows=5, cols=127, block=127),
    Case(rows=3, cols=129, block=129),
    Case(rows=between(2, 9), cols=390, block=130),
    Case(rows=7, cols=640, block=128),
    Case(rows=2, cols=9600, block=128),
    Case(rows=33, cols=96, block=32),
    Case(rows=3, cols=1025, block=205),
    Case(rows=2, cols=4099, block=4099),
    Case(rows=1, cols=16384, block=16384),
    Case(rows=2, cols=16383, block=129),
    Case(rows=7, cols=384, block=128, dtype=HALF),
    Case(rows=7, cols=384, block=128, dtype=BRAIN),
    Case(rows=9, cols=100, block=100, dtype=HALF),
    Case(rows=9, cols=100, block=100, dtype=BRAIN),
    Case(rows=6, cols=384, block=128, size=1e-29, demand="extreme_inputs"),
    Case(rows=6, cols=384, block=128, size=1e30, demand="extreme_inputs"),
    Case(rows=6, cols=384, block=128, size=1e-4, dtype=HALF),
    Case(rows=6, cols=384, block=128, size=3e-6, dtype=HALF),
    Case(rows=6, cols=384, block=128, size=9000, dtype=HALF),
    Case(rows=8, cols=256, block=64, blank=True),
    Case(rows=8, cols=60, block=60, blank=True, dtype=BRAIN),
    Case(rows=4, cols=512, block=128, exact=True),
    Case(rows=4, cols=512, block=128, exact=True, dtype=HALF),
    Case(rows=4, cols=300, block=300, exact=True, dtype=BRAIN),
    Case(rows=5, cols=300, block=60, layout="sliced"),
    Case(rows=5, cols=304, block=76, layout="padded", dtype=BRAIN),
    Case(rows=5, cols=256, block=128, layout="offset"),
    Case(rows=5, cols=256, block=128, layout="offset", dtype=HALF),
    Case(rows=6, cols=90, block=30, layout="expanded"),
    Case(rows=5, cols=130, block=65, values="heavy"),
    Case(rows=5, cols=130, block=65, values="large"),
    Case(rows=5, cols=130, block=65, values="large", dtype=HALF),
    Case(rows=5, cols=130, block=65, values="negative"),
    Case(rows=5, cols=130, block=65, values="constant"),
    Case(rows=5, cols=130, block=65, values="spike", dtype=BRAIN),
    Case(rows=5, cols=130, block=65, values="zeros"),
    Case(rows=7, cols=256, block=128, calls=2),
    Case(rows=100_003, cols=256, block=128, dtype=BRAIN, gpu=True, demand="grid_axes"),
    Case(rows=64, cols=16384, block=16384, dtype=HALF, gpu=True),
    Case(rows=170_001, cols=16384, block=128, dtype=HALF, huge=True),
    Case(rows=170_001, cols=16383, block=5461, dtype=HALF, huge=True),
    Case(rows=170_001, cols=16383, block=1, dtype=HALF, huge=True),
    Case(rows=2100, cols=300, block=60, layout="far", dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(rows=4301, cols=8, block=8),
]

challenge = Challenge(
    entry="fp8_quantize",
    inputs=inputs,
    reference=reference,
    accept=near_tie,
    suspects=SUSPECTS,
    shown=Case(rows=3, cols=21, block=7),
    cases=CASES,
    speed=[
        Speed(tokens, moved=moved, of_copy=0.75),
        Speed(tiles, moved=moved, of_copy=0.50),
    ],
    memory=Memory(tokens, extra=lambda x, block: 4 * len(x)),
    # The compiler has e4m3 from 8.9 on; until Triton 3.9 it goes there by way of fp16, which it cuts off.
    needs=(9, 0),
)
