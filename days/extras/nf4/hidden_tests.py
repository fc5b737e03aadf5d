"""Extra: NF4, into it at 0.15 of a plain copy, and back to fp16 at 0.40."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Own, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF, SINGLE

from .suspects import OF_DEQUANTIZE, OF_QUANTIZE, dequantized, edges, levels, near_edge, quantized

GRID = Own("grid")  # levels, and the two edges beside 0, which alone are numbers of fp32, by powers of two


def inputs(case: Case, draw) -> tuple[Tensor, int]:
    """x and block, each 1/4 to 4 times `gain` as large, with `hole` one 0; where `grid`, levels and edges."""
    if case.values == GRID:
        x = draw(case.n, values="zeros")
        chosen = torch.cat((levels(x), edges(x)[6:8]))
        x.copy_(chosen[draw.integers(case.n, low=0, high=len(chosen))])
        x[:: case.block] = 1.0
    else:
        x = draw(case.n).mul_(case.get("gain", 1.0))
    sizes = draw.integers(-(-case.n // case.block), low=-2, high=3).to(x.dtype).exp2()
    whole = x[: case.n // case.block * case.block]
    whole.view(-1, case.block).mul_(sizes[: case.n // case.block, None])
    x[len(whole) :] *= sizes[-1:]
    if "hole" in case:
        x[case.hole * case.block : (case.hole + 1) * case.block] = 0
    return x, case.block


def bytes_inputs(case: Case, draw) -> tuple[Tensor, Tensor, int, int]:
    """packed, absmax, n and block. Exact ones have 14 bits: with no level is their product near halfway
    between two numbers of fp16, so that it may be rounded to fp32 before.
    """
    packed = draw.integers(-(-case.n // 2), low=0, high=256, dtype=torch.uint8, layout=case.layout)
    absmax = draw(-(-case.n // case.block), dtype=SINGLE)
    if case.exact:
        absmax.copy_(1 + (2 * draw.integers(len(absmax), low=0, high=4096) + 1) / 8192)
    elif case.values == "normal":
        absmax.copy_((absmax / 2).exp())
    return packed, absmax, case.n, case.block


many = 2**28  # weights of an 8192 × 32768 matrix

QUANTIZE = [
    Case(n=64, block=64),
    Case(n=1, block=64),
    Case(n=0, block=64),
    Case(n=2, block=64, dtype=HALF),
    Case(n=3, block=64, dtype=BRAIN),
    Case(n=63, block=64),
    Case(n=65, block=64),
    Case(n=128, block=64, dtype=HALF),
    Case(n=1000, block=64),
    Case(n=1001, block=128),
    Case(n=4095, block=64),
    Case(n=4096, block=64, dtype=BRAIN),
    Case(n=4097, block=64, dtype=HALF),
    Case(n=4100, block=4096),
    Case(n=8193, block=4096, dtype=HALF),
    Case(n=between(8194, 9200), block=1024),
    Case(n=4960, block=256, dtype=BRAIN),
    Case(n=5000, block=2048, dtype=HALF),
    Case(n=700, block=512),
    Case(n=between(19_000, 21_000), block=64, dtype=HALF),
    Case(n=700, block=64, hole=3),
    Case(n=700, block=64, gain=1e-30, demand="extreme_inputs"),
    Case(n=700, block=64, hole=10, dtype=HALF),
    Case(n=700, block=128, values=GRID, exact=True),
    Case(n=6000, block=64, values=GRID, exact=True),
    Case(n=700, block=64, layout="offset"),
    Case(n=701, block=64, layout="offset", dtype=HALF),
    Case(n=700, block=64, layout="offset", dtype=BRAIN),
    Case(n=700, block=64, values="zeros"),
    Case(n=700, block=64, values="constant"),
    Case(n=700, block=64, values="negative", dtype=HALF),
    Case(n=700, block=64, values="large", dtype=BRAIN),
    Case(n=701, block=256, values="heavy"),
    Case(n=700, block=64, values="spike"),
    Case(n=700, block=64, calls=2),
    Case(n=2**31 + 4100, block=64, dtype=HALF, huge=True),
]

DEQUANTIZE = [
    Case(n=64, block=64, dtype=HALF),
    Case(n=1, block=64, dtype=HALF),
    Case(n=0, block=64, dtype=HALF),
    Case(n=2, block=64, dtype=HALF),
    Case(n=3, block=64, dtype=HALF),
    Case(n=63, block=64, dtype=HALF),
    Case(n=65, block=64, dtype=HALF),
    Case(n=128, block=128, dtype=HALF),
    Case(n=992, block=64, dtype=HALF),
    Case(n=1001, block=128, dtype=HALF),
    Case(n=4095, block=64, dtype=HALF),
    *(Case(n=n, block=64, dtype=HALF) for n in (4096, 4097)),
    Case(n=4099, block=4096, dtype=HALF),
    Case(n=8193, block=4096, dtype=HALF),
    Case(n=9008, block=1024, dtype=HALF),
    Case(n=5000, block=256, dtype=HALF),
    Case(n=5000, block=2048, dtype=HALF),
    Case(n=700, block=512, dtype=HALF),
    Case(n=between(19_000, 21_000), block=64, dtype=HALF),
    Case(n=6001, block=64, exact=True, dtype=HALF),
    Case(n=700, block=64, layout="offset", dtype=HALF),
    Case(n=1400, block=64, layout="offset", exact=True, dtype=HALF),
    Case(n=700, block=64, values="zeros", dtype=HALF),
    Case(n=700, block=64, values="large", dtype=HALF),
    Case(n=700, block=64, values="heavy", dtype=HALF),
    Case(n=700, block=64, calls=2, dtype=HALF),
    Case(n=2**31 + 4100, block=64, dtype=HALF, huge=True),
]

challenge = (
    Challenge(
        entry="nf4_quantize",
        inputs=inputs,
        reference=quantized,
        returns=(torch.uint8, SINGLE),
        accept=near_edge,
        no_host_reads=True,
        suspects=OF_QUANTIZE,
        cases=QUANTIZE,
        shown=Case(n=1000, block=64),
        speed=Speed(
            Case(n=many, block=64, dtype=HALF, gpu=True),
            moved=lambda x, block: x.nbytes + len(x) // 2 + 4 * len(x) // block,
            of_copy=0.15,
        ),
    ),
    Challenge(
        entry="nf4_dequantize",
        inputs=bytes_inputs,
        reference=dequantized,
        returns=HALF,
        no_host_reads=True,
        suspects=OF_DEQUANTIZE,
        cases=DEQUANTIZE,
        shown=Case(n=992, block=64, dtype=HALF),
        speed=Speed(
            Case(n=many, block=64, dtype=HALF, gpu=True),
            moved=lambda packed, absmax, n, block: packed.nbytes + absmax.nbytes + 2 * n,
            of_copy=0.40,
        ),
    ),
)
