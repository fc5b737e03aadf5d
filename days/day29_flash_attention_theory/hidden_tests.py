"""Day 29: (m, l, o) of two partial softmaxes merged, and the bytes of flash attention counted."""

from __future__ import annotations

import math

import torch

from grader.challenge import Case, Challenge, Relation, between
from grader.challenge.formulas.draw_one_input import vector
from grader.challenge.formulas.partial_softmax import merge

from .suspects import OF_MERGE, OF_TRAFFIC


def parts(case: Case, draw) -> tuple[torch.Tensor, ...]:
    """(m1, l1, o1, m2, l2, o2): the case's values are those of m, its layout is that of o.

    Where m is -inf the part saw no key, and its l and o are 0. `gap` lifts m2; `empty` names a part that saw
    no key at all; `o_values`, `o1_layout` and `o2_layout` are for o.
    """
    found: list[torch.Tensor] = []
    for part in (1, 2):
        m = vector(case, draw, case.rows)
        m += case.get("gap", 0.0) * (part - 1)
        if case.get("empty") in (part, "both"):
            m.fill_(-math.inf)
        total = draw(case.rows, layout="contiguous", values="normal").abs_().add_(1)
        layout = case.get(f"o{part}_layout", case.layout)
        o = draw(case.rows, case.D, layout=layout, values=case.get("o_values", "normal"))
        nobody = m == -math.inf
        total[nobody] = 0
        if bool(nobody.any()):
            o[nobody] = 0
        found += [m, total, o]
    return tuple(found)


# A part that saw no key is what the day is about.
EMPTY = {"values": "minus_inf", "demand": "values"}

CASES = [
    Case(rows=4, D=8),
    Case(rows=1, D=1),
    Case(rows=0, D=8),
    Case(rows=3, D=7),
    Case(rows=37, D=1),
    Case(rows=5, D=64),
    Case(rows=33, D=64),
    Case(rows=15, D=128),
    Case(rows=16, D=128),
    Case(rows=48, D=128),
    Case(rows=96, D=128),
    Case(rows=17, D=128),
    Case(rows=19, D=80),
    Case(rows=19, D=96),
    Case(rows=between(131, 143), D=between(33, 47)),
    Case(rows=1031, D=3),
    Case(rows=5, D=513),
    Case(rows=9, D=50, gap=20.0),
    Case(rows=9, D=50, gap=-20.0),
    Case(rows=9, D=50, gap=300.0),
    Case(rows=9, D=50, gap=-300.0),
    Case(rows=70, D=40, layout="sliced"),
    Case(rows=70, D=40, layout="padded"),
    Case(rows=70, D=40, layout="sliced", o2_layout="contiguous"),
    Case(rows=70, D=40, layout="sliced", o1_layout="contiguous"),
    Case(rows=70, D=41, layout="offset"),
    Case(rows=70, D=40, layout="expanded", o2_layout="contiguous"),
    Case(rows=12, D=30, empty=1, **EMPTY),
    Case(rows=12, D=30, empty=2, **EMPTY),
    Case(rows=12, D=30, empty="both", **EMPTY),
    Case(rows=50, D=20, values="some_minus_inf", demand="values"),
    Case(rows=50, D=20, **EMPTY),
    Case(rows=50, D=20, values="large"),
    Case(rows=50, D=20, values="large", gap=3.0),
    Case(rows=50, D=20, values="heavy"),
    Case(rows=50, D=20, values="negative"),
    Case(rows=50, D=20, values="negative", gap=-1e4),
    Case(rows=50, D=20, values="rising", o_values="heavy"),
    Case(rows=50, D=20, values="constant", o_values="integers", exact=True),
    Case(rows=50, D=20, values="zeros", o_values="nan"),
    Case(rows=50, D=20, values="zeros", o_values="inf"),
    Case(rows=60, D=24, calls=2),
    Case(rows=45_000_001, D=64, huge=True),
    Case(rows=2100, D=16, layout="far", huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(rows=4301, D=8),
]

merging = Challenge(
    entry="merge",
    inputs=parts,
    reference=merge,
    suspects=OF_MERGE,
    cases=CASES,
    relations=[
        Relation(
            "the parts change places",
            Case(rows=40, D=24, values="some_minus_inf", demand="values"),
            other=lambda m1, l1, o1, m2, l2, o2: (m2, l2, o2, m1, l1, o1),
            holds=lambda one, two: all(
                torch.allclose(a, b, rtol=1e-5, atol=1e-6) for a, b in zip(one, two, strict=True)
            ),
            says="merge(a, b) is not merge(b, a): the two parts must be treated alike.",
        )
    ],
)


flash_traffic = Challenge(
    entry="flash_traffic",
    inputs=lambda case, draw: (case.S, case.D, case.block_m, case.itemsize),
    reference=lambda S, D, block_m, itemsize: itemsize * S * D * (2 + 2 * -(-S // block_m)),
    suspects=OF_TRAFFIC,
    cases=[
        Case(S=1024, D=64, block_m=64, itemsize=2),
        Case(S=1, D=1, block_m=16, itemsize=4),
        Case(S=0, D=64, block_m=64, itemsize=2, demand="degenerate_sizes"),
        Case(S=100, D=64, block_m=128, itemsize=2),
        Case(S=127, D=80, block_m=128, itemsize=2),
        Case(S=128, D=96, block_m=128, itemsize=4),
        Case(S=129, D=128, block_m=128, itemsize=1),
        Case(S=between(962, 1023), D=128, block_m=64, itemsize=2),
        Case(S=4096, D=128, block_m=128, itemsize=2),
        Case(S=65537, D=128, block_m=128, itemsize=2),
        Case(S=2**20 + 1, D=256, block_m=64, itemsize=4),
    ],
)

challenge = (merging, flash_traffic)
