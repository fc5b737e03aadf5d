"""Day 29: (m, l, o) of two partial softmaxes merged, and the bytes of flash attention counted."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from grader.challenge import Case, Challenge, Relation

Part = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
Weight = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def parts(case: Case, draw) -> tuple[torch.Tensor, ...]:
    """(m1, l1, o1, m2, l2, o2): the case's values are those of m, its layout is that of o.

    Where m is -inf the part saw no key, and its l and o are 0. `gap` lifts m2; `empty` names a part that saw
    no key at all; `o_values`, `o1_layout` and `o2_layout` are for o.
    """
    found: list[torch.Tensor] = []
    for part in (1, 2):
        m = draw(case.rows, layout="offset" if case.layout == "offset" else "contiguous")
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


def weighed(weight1: Weight, weight2: Weight) -> Callable[..., Part]:
    """The merge of someone who weighs each part by such a function of (its m, the other's m, the new m)."""

    def merged(m1, l1, o1, m2, l2, o2) -> Part:
        m = torch.maximum(m1, m2)
        a1, a2 = weight1(m1, m2, m).nan_to_num(0.0), weight2(m2, m1, m).nan_to_num(0.0)
        return m, l1 * a1 + l2 * a2, o1 * a1[:, None] + o2 * a2[:, None]

    return merged


def right(own: torch.Tensor, other: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
    return torch.exp(own - m)


def one(own: torch.Tensor, other: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
    return torch.ones_like(own)


reference = weighed(right, right)
of_sum = weighed(one, one)
base_2 = weighed(lambda own, other, m: torch.exp2(own - m), lambda own, other, m: torch.exp2(own - m))


def by_second(m1, l1, o1, m2, l2, o2) -> Part:
    """The second maximum taken for the common one."""
    a1 = torch.exp(m1 - m2).nan_to_num(0.0)
    return m2, l1 * a1 + l2, o1 * a1[:, None] + o2


def divided(*arguments: torch.Tensor) -> Part:
    m, total, o = reference(*arguments)
    return m, total, (o / total[:, None]).nan_to_num(0.0)


ADD = "what was summed relative to another maximum cannot be added."
suspects = {
    f"Only the first part is rescaled: the second needs exp(m2 - m) as well, {ADD}": weighed(right, one),
    f"Only the second part is rescaled: the first needs exp(m1 - m) as well, {ADD}": weighed(one, right),
    f"Neither part is rescaled to the new maximum: {ADD}": of_sum,
    "l is rescaled and o is not: o holds the same exponentials as l, and needs the same factors.": (
        lambda *a: (*reference(*a)[:2], of_sum(*a)[2])
    ),
    "o is rescaled and l is not: l holds the same exponentials as o, and needs the same factors.": (
        lambda *a: (reference(*a)[0], of_sum(*a)[1], reference(*a)[2])
    ),
    "The factors are turned over: exp(m_old - m_new) makes a sum smaller, never larger.": weighed(
        lambda own, other, m: torch.exp(m - own), lambda own, other, m: torch.exp(m - own)
    ),
    "The factors have changed places: the first part is weighed by m2, the second by m1.": weighed(
        lambda own, other, m: torch.exp(other - m), lambda own, other, m: torch.exp(other - m)
    ),
    "The second maximum is taken for that of all keys: it is the larger of the two, whichever that is.": (
        by_second
    ),
    "The parts are weighed by powers of 2: exp2 needs its argument times log2(e).": base_2,
    "o comes out divided by l: an o that is divided cannot be merged again, so the division waits.": divided,
}

merge = Challenge(
    entry="merge",
    inputs=parts,
    reference=reference,
    suspects=suspects,
    cases=[
        Case(rows=4, D=8),
        Case(rows=1, D=1),
        Case(rows=0, D=8),
        Case(rows=3, D=7),
        Case(rows=37, D=1),
        Case(rows=5, D=64),
        Case(rows=33, D=64),
        Case(rows=15, D=128),
        Case(rows=16, D=128),
        Case(rows=17, D=128),
        Case(rows=19, D=80),
        Case(rows=19, D=96),
        Case(rows=131, D=33),
        Case(rows=1031, D=3),
        Case(rows=2, D=513),
        Case(rows=9, D=50, gap=20.0),
        Case(rows=9, D=50, gap=-20.0),
        Case(rows=9, D=50, gap=300.0),
        Case(rows=9, D=50, gap=-300.0),
        Case(rows=70, D=40, layout="sliced"),
        Case(rows=70, D=40, layout="sliced", o2_layout="contiguous"),
        Case(rows=70, D=40, layout="sliced", o1_layout="contiguous"),
        Case(rows=70, D=41, layout="offset"),
        Case(rows=70, D=40, layout="expanded", o2_layout="contiguous"),
        Case(rows=12, D=30, empty=1, values="minus_inf"),
        Case(rows=12, D=30, empty=2, values="minus_inf"),
        Case(rows=12, D=30, empty="both", values="minus_inf"),
        Case(rows=50, D=20, values="some_minus_inf"),
        Case(rows=50, D=20, values="minus_inf"),
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
    ],
    relations=[
        Relation(
            "the parts change places",
            Case(rows=40, D=24, values="some_minus_inf"),
            other=lambda m1, l1, o1, m2, l2, o2: (m2, l2, o2, m1, l1, o1),
            holds=lambda one, two: all(
                torch.allclose(a, b, rtol=1e-5, atol=1e-6) for a, b in zip(one, two, strict=True)
            ),
            says="merge(a, b) is not merge(b, a): the two parts must be treated alike.",
        )
    ],
)


def counted(bytes_of: Callable[[int, int, int, int], int]) -> Callable[..., int]:
    """A wrong count by S, D, tiles of queries and itemsize."""
    return lambda S, D, block_m, itemsize: bytes_of(S, D, -(-S // block_m), itemsize)


flash_traffic = Challenge(
    entry="flash_traffic",
    inputs=lambda case, draw: (case.S, case.D, case.block_m, case.itemsize),
    reference=counted(lambda S, D, tiles, itemsize: itemsize * S * D * (2 + 2 * tiles)),
    suspects={
        "The last, partial tile of queries is not counted: it reads all of K and V too, so round up.": (
            lambda S, D, block_m, itemsize: itemsize * S * D * (2 + 2 * (S // block_m))
        ),
        "These are elements, not bytes: multiply by itemsize.": counted(
            lambda S, D, tiles, itemsize: S * D * (2 + 2 * tiles)
        ),
        "K and V are two matrices: each tile of queries reads both.": counted(
            lambda S, D, tiles, itemsize: itemsize * S * D * (2 + tiles)
        ),
        "Q is read and O is written: that is S * D elements twice.": counted(
            lambda S, D, tiles, itemsize: itemsize * S * D * (1 + 2 * tiles)
        ),
        "K and V are counted once: every tile of queries reads them again.": counted(
            lambda S, D, tiles, itemsize: itemsize * S * D * 4
        ),
        "Q and O are counted once for each tile: all tiles together read Q and write O once.": counted(
            lambda S, D, tiles, itemsize: itemsize * S * D * 4 * tiles
        ),
        "K and V are read once for each query: a tile of block_m queries shares them.": counted(
            lambda S, D, tiles, itemsize: itemsize * S * D * (2 + 2 * S)
        ),
    },
    cases=[
        Case(S=1024, D=64, block_m=64, itemsize=2),
        Case(S=1, D=1, block_m=16, itemsize=4),
        Case(S=0, D=64, block_m=64, itemsize=2),
        Case(S=100, D=64, block_m=128, itemsize=2),
        Case(S=127, D=80, block_m=128, itemsize=2),
        Case(S=128, D=96, block_m=128, itemsize=4),
        Case(S=129, D=128, block_m=128, itemsize=1),
        Case(S=1000, D=128, block_m=64, itemsize=2),
        Case(S=4096, D=128, block_m=128, itemsize=2),
        Case(S=65537, D=128, block_m=128, itemsize=2),
        Case(S=2**20 + 1, D=256, block_m=64, itemsize=4),
    ],
)

challenge = (merge, flash_traffic)
