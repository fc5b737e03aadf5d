"""Extra: double quantisation, absmax into 8 bits; and weights back to fp16 at 0.40 of a plain copy."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Speed, between
from grader.challenge.formulas.dtypes import HALF, SINGLE
from grader.challenge.formulas.nf4 import TABLES

from .suspects import OF_DEQUANTIZE, OF_QUANTIZE, dequantized, near_tie, quantized


def a_table(case: Case, draw) -> Tensor:
    """256 entries, ascending: bitsandbytes', unless the case names others."""
    entries = draw(256, dtype=SINGLE, values="normal")
    return entries.copy_(TABLES[case.get("table", "dynamic")](entries))


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, int]:
    """absmax around `base`, times `gain`, the table and block.

    With `hole` every number has another as far from 2 on the other side, and the block of that number has 2
    alone. All are multiples of 2⁻¹³, and so few that no sum of them is rounded: the mean is 2 exactly.
    """
    absmax = draw(case.n, dtype=SINGLE)
    absmax.mul_(0.25).add_(case.get("base", 2.0)).abs_().mul_(case.get("gain", 1.0))
    if "hole" in case:
        away = ((absmax[: case.n // 2] - 2) * 2**13).round() / 2**13
        away[case.hole * case.block : (case.hole + 1) * case.block] = 0
        absmax.copy_(torch.cat((2 + away, 2 - away.flip(0))))
    return absmax, a_table(case, draw), case.block


def bytes_inputs(case: Case, draw) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, int, int, int]:
    """packed, codes, table, scales, offset (`base`), n, block and block2; no scale is above half the offset.

    Exact ones make an absmax of 13 or 14 bits: with no level is their product near halfway between two
    numbers of fp16, so that it may be rounded to fp32 before.
    """
    blocks = -(-case.n // case.block)
    packed = draw.integers(-(-case.n // 2), low=0, high=256, dtype=torch.uint8, layout=case.layout)
    codes = draw.integers(blocks, low=0, high=256, dtype=torch.uint8, layout=case.layout)
    scales = draw(-(-blocks // case.block2), dtype=SINGLE)
    offset = draw(1, dtype=SINGLE, values="normal")
    if case.exact:
        scales.copy_(draw.integers(len(scales), low=-5, high=-3).to(SINGLE).exp2())
        offset.fill_(1.84375)
    else:
        scales.abs_().clamp_(max=8.0)
        offset.copy_(case.get("base", 16 + offset.abs()))
    return packed, codes, a_table(case, draw), scales, offset, case.n, case.block, case.block2


def at(n: int, block: int, block2: int, **more) -> Case:
    return Case(n=n, block=block, block2=block2, dtype=HALF, **more)


many = at(2**28, 64, 256, gpu=True)  # weights of an 8192 × 32768 matrix

QUANTIZE = [
    Case(n=256, block=256),
    Case(n=1, block=256),
    Case(n=0, block=256),
    Case(n=2, block=16),
    Case(n=17, block=16),
    Case(n=63, block=64, table="even"),
    Case(n=65, block=64),
    Case(n=255, block=256, table="drawn"),
    Case(n=257, block=256),
    Case(n=1000, block=64),
    Case(n=1025, block=1024, table="positive"),
    Case(n=4096, block=256, table="even"),
    Case(n=4097, block=256),
    Case(n=8193, block=4096, table="narrow"),
    Case(n=between(19_000, 21_000), block=256),
    Case(n=5000, block=32, table="drawn"),
    Case(n=700, block=64, base=0.0),
    Case(n=700, block=64, base=8.0),
    Case(n=700, block=512, base=0.01),
    Case(n=512, block=64, values="constant"),
    Case(n=512, block=64, values="constant", table="drawn"),
    Case(n=700, block=64, values="zeros", base=0.0),
    Case(n=700, block=64, values="zeros", base=0.0, table="positive"),
    Case(n=512, block=64, hole=3),
    Case(n=512, block=64, hole=0, table="drawn"),
    Case(n=700, block=64, layout="offset"),
    Case(n=701, block=256, layout="offset", table="drawn"),
    Case(n=700, block=64, values="heavy"),
    Case(n=700, block=64, gain=1e4),
    Case(n=700, block=64, gain=1e-30, demand="extreme_inputs"),
    Case(n=700, block=64, values="spike"),
    Case(n=700, block=64, values="negative"),
    Case(n=700, block=64, calls=2),
    Case(n=300_007, block=256, gpu=True),
    *(Case(n=n, block=256, huge=True) for n in (2**28 + 4100, 2**31 + 4100)),
]

DEQUANTIZE = [
    at(64, 64, 16),
    at(1, 64, 256),
    at(0, 64, 256),
    at(3, 64, 16),
    at(65, 64, 16),
    at(1025, 64, 16),
    at(2000, 64, 16),
    at(2049, 128, 16),
    at(between(4900, 5100), 64, 32, table="drawn"),
    at(4096, 64, 64),
    at(4097, 64, 64),
    at(20011, 64, 256, table="even"),
    at(16385, 64, 256, table="drawn"),
    at(70001, 1024, 32),
    at(70001, 4096, 16),
    at(6001, 64, 16, table="odd", exact=True),
    at(9999, 128, 32, table="odd", exact=True, layout="offset"),
    at(2000, 64, 16, layout="offset"),
    at(2000, 64, 16, values="zeros"),
    at(2000, 64, 16, base=0.0),
    at(2000, 64, 16, values="heavy", base=8.0),
    at(2000, 64, 16, values="constant", table="positive"),
    at(2000, 64, 16, calls=2),
    at(2**31 + 4100, 64, 256, huge=True),
]

challenge = (
    Challenge(
        entry="quantize_absmax",
        inputs=inputs,
        reference=quantized,
        returns=(torch.uint8, SINGLE, SINGLE),
        accept=near_tie,
        no_host_reads=True,
        suspects=OF_QUANTIZE,
        cases=QUANTIZE,
        shown=Case(n=1000, block=64),
    ),
    Challenge(
        entry="nf4_double_dequantize",
        inputs=bytes_inputs,
        reference=dequantized,
        returns=HALF,
        no_host_reads=True,
        suspects=OF_DEQUANTIZE,
        cases=DEQUANTIZE,
        shown=at(2000, 64, 16),
        speed=Speed(many, moved=lambda *given: sum(x.nbytes for x in given[:5]) + 2 * given[5], of_copy=0.40),
    ),
)
